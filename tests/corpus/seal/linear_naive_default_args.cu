// task: paper/mnist_linear  dtypes: fp32, fp16, bf16  style: one thread per output, 2-d grid, kernel declared first and defined later, default argument of a device function
#include <torch/extension.h>

template <typename scalar_t>
__global__ void linear_kernel(const scalar_t* x, const scalar_t* weight, const scalar_t* bias, scalar_t* y, int B, int I, int O);

template <typename scalar_t>
__device__ float dot(const scalar_t* a, const scalar_t* b, int n, float start = 0.0f);

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    int B = x.size(0), I = x.size(1), O = weight.size(0);
    TORCH_CHECK(weight.size(1) == I, "weight has ", weight.size(1), " inputs, x has ", I);
    auto y = torch::empty({B, O}, x.options());
    dim3 block(16, 16);
    dim3 grid((O + block.x - 1) / block.x, (B + block.y - 1) / block.y);
    AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "linear", ([&] {
        linear_kernel<scalar_t><<<grid, block>>>(x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                                 bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), B, I, O);
    }));
    return y;
}

template <typename scalar_t>
__device__ float dot(const scalar_t* a, const scalar_t* b, int n, float start) {
    float sum = start;
    for (int i = 0; i < n; i++) sum += static_cast<float>(a[i]) * static_cast<float>(b[i]);
    return sum;
}

template <typename scalar_t>
__global__ void linear_kernel(const scalar_t* x, const scalar_t* weight, const scalar_t* bias, scalar_t* y, int B, int I, int O) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y * blockDim.y + threadIdx.y;
    if (b < B && o < O)
        y[(int64_t)b * O + o] = static_cast<scalar_t>(dot(x + (int64_t)b * I, weight + (int64_t)o * I, I) + static_cast<float>(bias[o]));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "linear");
}
