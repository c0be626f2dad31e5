// task: modern/softmax  dtypes: fp32  style: cooperative groups, tiled_partition and cg::reduce
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void softmax_cg(float* __restrict__ out, const float* __restrict__ inp, int N, int C) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) {
        return;
    }
    const float* x = inp + (size_t)idx * C;

    float maxval = -INFINITY;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        maxval = fmaxf(maxval, x[i]);
    }
    maxval = cg::reduce(warp, maxval, cg::greater<float>{});

    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        sum += expf(x[i] - maxval);
    }
    sum = cg::reduce(warp, sum, cg::plus<float>{});

    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        out[(size_t)idx * C + i] = expf(x[i] - maxval) / sum;
    }
}

at::Tensor forward(at::Tensor x) {
    auto out = at::empty_like(x);
    int C = x.size(-1);
    int N = x.numel() / C;
    const int block_size = 256;
    const int rows_per_block = block_size / 32;
    softmax_cg<<<(N + rows_per_block - 1) / rows_per_block, block_size>>>(out.data_ptr<float>(), x.data_ptr<float>(), N, C);
    auto err = cudaGetLastError();
    if (err != cudaSuccess) {
        throw std::runtime_error(std::string("softmax_cg: ") + cudaGetErrorString(err));
    }
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Softmax forward (cooperative groups)");
}
