// Set before every file of planted bugs. PLANT gives a kernel two entries, with its bug and without.
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

using Entry = torch::Tensor (*)(torch::Tensor);
struct Planted { const char* name; Entry wrong; Entry right; };
static std::vector<Planted>& planted() { static std::vector<Planted> all; return all; }
struct Planting { Planting(const char* name, Entry wrong, Entry right) { planted().push_back({name, wrong, right}); } };

#define PLANT(NAME, GRID, BLOCK, SHARED)                                                          \
  template <bool BUG> static torch::Tensor run_##NAME(torch::Tensor x) {                          \
    auto y = torch::empty_like(x);                                                                \
    const int n = x.numel();                                                                      \
    NAME<BUG><<<GRID, BLOCK, SHARED>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);              \
    return y;                                                                                     \
  }                                                                                               \
  static Planting planting_##NAME(#NAME, run_##NAME<true>, run_##NAME<false>);
#define PLANT_HOST(NAME) static Planting planting_##NAME(#NAME, NAME<true>, NAME<false>);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  for (const Planted& plant : planted()) {
    m.def((std::string(plant.name) + "_wrong").c_str(), plant.wrong);
    m.def((std::string(plant.name) + "_right").c_str(), plant.right);
  }
}
