// Algorithms of CUB and Thrust, each with a result that is known. x has 10000 elements; y begins as 64 zeros or as x.
#include <torch/extension.h>

#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/functional>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

using torch::Tensor;
static float* of(const Tensor& tensor) { return tensor.data_ptr<float>(); }

// Asks for the size, makes the storage and calls.
template <class Call>
static void with_storage(const Tensor& x, Call call) {
  size_t bytes = 0;
  TORCH_CHECK(call(nullptr, bytes) == cudaSuccess && bytes > 0);
  auto storage = torch::empty({static_cast<int64_t>(bytes)}, x.options().dtype(torch::kUInt8));
  TORCH_CHECK(call(storage.data_ptr(), bytes) == cudaSuccess);
}
#define REDUCTION(NAME, ...)                                                       \
  Tensor NAME(Tensor x) {                                                          \
    auto y = torch::zeros({64}, x.options());                                      \
    const int n = x.numel();                                                       \
    with_storage(x, [&](void* s, size_t& b) { return cub::__VA_ARGS__; });         \
    return y;                                                                      \
  }
#define SCAN(NAME, ...)                                                            \
  Tensor NAME(Tensor x) {                                                          \
    auto y = torch::zeros_like(x);                                                 \
    const int n = x.numel();                                                       \
    with_storage(x, [&](void* s, size_t& b) { return cub::DeviceScan::__VA_ARGS__; }); \
    return y;                                                                      \
  }
struct Squared {
  __host__ __device__ float operator()(float v) const { return v * v; }
};
struct RowStart {
  __host__ __device__ int operator()(int row) const { return 1000 * row; }
};
using Rows = cub::TransformInputIterator<int, RowStart, cub::CountingInputIterator<int>>;
static const Rows rows(cub::CountingInputIterator<int>(0), RowStart());

REDUCTION(sum, DeviceReduce::Sum(s, b, of(x), of(y), n))
REDUCTION(sum_of_nothing, DeviceReduce::Sum(s, b, of(x), of(y), 0))
REDUCTION(maximum, DeviceReduce::Max(s, b, of(x), of(y), n))
REDUCTION(minimum, DeviceReduce::Min(s, b, of(x), of(y), n))
REDUCTION(joined, DeviceReduce::Reduce(s, b, of(x), of(y), n, cuda::maximum<>(), 4000.0f))
REDUCTION(squares, DeviceReduce::TransformReduce(s, b, of(x), of(y), n, thrust::plus<float>(), Squared(), 0.5f))
REDUCTION(segments, DeviceSegmentedReduce::Sum(s, b, of(x), of(y), 10, rows, rows + 1))
REDUCTION(lowest_of_segments, DeviceSegmentedReduce::Min(s, b, of(x), of(y), 10, rows, rows + 1))
SCAN(inclusive, InclusiveSum(s, b, of(x), of(y), n))
SCAN(exclusive, ExclusiveSum(s, b, of(x), of(y), n))
SCAN(running_maximum, InclusiveScan(s, b, of(x), of(y), cub::Max(), n))
SCAN(maximum_before, ExclusiveScan(s, b, of(x), of(y), cub::Max(), 3.0f, n))

Tensor place_of_maximum(Tensor x) {
  auto y = torch::zeros({64}, x.options());
  auto* pair = reinterpret_cast<cub::KeyValuePair<int, float>*>(of(y));
  with_storage(x, [&](void* s, size_t& b) { return cub::DeviceReduce::ArgMax(s, b, of(x), pair, x.numel()); });
  return y;
}
Tensor by_thrust(Tensor x) {
  auto y = torch::empty_like(x);
  const auto stream = thrust::cuda::par.on(nullptr);
  thrust::fill(thrust::device, of(y), of(y) + x.numel(), 2.0f);
  thrust::transform(stream, of(x), of(x) + x.numel(), of(y), of(y), thrust::multiplies<float>());
  thrust::inclusive_scan(stream, of(y), of(y) + x.numel(), of(y), thrust::maximum<float>());
  return y;
}
__global__ void alone(const float* x, float* y, int n) {
  const float* end = x + n;
  if (threadIdx.x != 0) return;
  y[0] = thrust::reduce(thrust::seq, x, end, 0.0f, thrust::maximum<float>());
  y[1] = thrust::transform_reduce(thrust::device, x, x + 10, Squared(), 0.0f, thrust::plus<float>());
  y[2] = thrust::inner_product(thrust::seq, x, x + 10, x, 0.0f);
  y[3] = static_cast<float>(thrust::max_element(thrust::seq, x, end) - x);
  auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(1), thrust::square<int>());
  y[4] = static_cast<float>(thrust::reduce(thrust::seq, squares, squares + 4));
  thrust::exclusive_scan(thrust::seq, x, x + 3, y + 5, 1.0f);
  thrust::copy(thrust::seq, x, x + 2, y + 8);
  thrust::for_each(thrust::seq, y + 8, y + 10, [](float& v) { v += 1.0f; });
  const thrust::tuple<int, float> both = thrust::make_tuple(3, 0.5f);
  y[10] = thrust::get<0>(both) + thrust::get<1>(both);
  cuda::atomic_ref<float, cuda::thread_scope_device> total(y[11]);
  total.fetch_add(1.5f, cuda::std::memory_order_relaxed);
  total.fetch_max(1.0f);
  float expected = 1.5f;
  if (total.compare_exchange_strong(expected, 2.5f)) total += 1.0f;
}
Tensor in_device_code(Tensor x) {
  auto y = torch::zeros({64}, x.options());
  alone<<<1, 32>>>(of(x), of(y), x.numel());
  return y;
}
Tensor sorted(Tensor x) {
  size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, of(x), of(x), static_cast<int>(x.numel()));
  return x;
}
Tensor read_by_the_host(Tensor x) {
  return torch::full({1}, thrust::reduce(thrust::device, of(x), of(x) + x.numel()), x.options());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
#define D(NAME) m.def(#NAME, &NAME);
  D(sum) D(sum_of_nothing) D(maximum) D(minimum) D(joined) D(squares) D(segments) D(lowest_of_segments)
  D(inclusive) D(exclusive) D(running_maximum) D(maximum_before) D(place_of_maximum)
  D(by_thrust) D(in_device_code) D(sorted) D(read_by_the_host)
}
