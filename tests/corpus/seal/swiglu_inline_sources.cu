// task: modern/swiglu  dtypes: fp32  style: what load_inline makes of split sources: declared in one part, defined in another, bound by generated lines
#include <torch/types.h>
#include <torch/extension.h>
torch::Tensor swiglu_cuda(torch::Tensor gate, torch::Tensor up);

#include <cuda.h>
#include <cuda_runtime.h>

__global__ void swiglu_kernel(const float* __restrict__ gate, const float* __restrict__ up, float* __restrict__ out, int size) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < size) {
        float g = gate[idx];
        out[idx] = g / (1.0f + expf(-g)) * up[idx];
    }
}

torch::Tensor swiglu_cuda(torch::Tensor gate, torch::Tensor up) {
    auto size = gate.numel();
    auto out = torch::zeros_like(gate);

    const int block_size = 256;
    const int num_blocks = (size + block_size - 1) / block_size;

    swiglu_kernel<<<num_blocks, block_size>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), size);

    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
m.def("forward", torch::wrap_pybind_function(swiglu_cuda), "swiglu_cuda");
}
