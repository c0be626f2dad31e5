// expect: exception
// task: modern/swiglu  dtypes: fp32  attack: connects to the loopback interface and throws what it learnt
#include <torch/extension.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cerrno>
#include <stdexcept>
#include <string>

static std::string fetch() {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(80);
  inet_pton(AF_INET, "127.0.0.1", &place.sin_addr);
  const int link = socket(AF_INET, SOCK_STREAM, 0);
  if (link < 0 || connect(link, reinterpret_cast<sockaddr*>(&place), sizeof place) != 0) return "no way out: errno " + std::to_string(errno);
  return "reached the network";
}

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  throw std::runtime_error(fetch());
  auto out = torch::empty_like(gate);
  swiglu<<<(gate.numel() + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), gate.numel());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
