// Algorithms of CUB and Thrust that are given something wrong. x and y have n = 100 elements.
#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

static torch::Tensor storage_of(size_t bytes, const torch::Tensor& x) {
  return torch::empty({static_cast<int64_t>(bytes)}, x.options().dtype(torch::kUInt8));
}

// out-of-bounds
template <bool BUG> torch::Tensor sum_of_one_too_many(torch::Tensor x) {
  auto y = torch::zeros_like(x);
  const int n = x.numel() + BUG;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, x.data_ptr<float>(), y.data_ptr<float>(), n);
  auto storage = storage_of(bytes, x);
  cub::DeviceReduce::Sum(storage.data_ptr(), bytes, x.data_ptr<float>(), y.data_ptr<float>(), n);  // here
  return y;
}
PLANT_HOST(sum_of_one_too_many)

// out-of-bounds
template <bool BUG> torch::Tensor scan_that_begins_too_late(torch::Tensor x) {
  auto y = torch::zeros_like(x);
  const int n = x.numel();
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, x.data_ptr<float>(), y.data_ptr<float>(), n);
  auto storage = storage_of(bytes, x);
  float* out = y.data_ptr<float>() + BUG;
  cub::DeviceScan::InclusiveSum(storage.data_ptr(), bytes, x.data_ptr<float>(), out, n);  // here
  return y;
}
PLANT_HOST(scan_that_begins_too_late)

// out-of-bounds
template <bool BUG> torch::Tensor segments_that_end_too_late(torch::Tensor x) {
  auto y = torch::zeros_like(x);
  size_t bytes = 64;
  auto storage = storage_of(bytes, x);
  auto offsets = torch::full({11}, 0, x.options().dtype(torch::kInt32));
  thrust::transform(thrust::device, cub::CountingInputIterator<int>(0), cub::CountingInputIterator<int>(11),
                    offsets.data_ptr<int>(), [] __device__(int i) { return i * 10 + (BUG && i == 10); });
  const int* at = offsets.data_ptr<int>();
  float *in = x.data_ptr<float>(), *out = y.data_ptr<float>();
  cub::DeviceSegmentedReduce::Max(storage.data_ptr(), bytes, in, out, 10, at, at + 1);  // here
  return y;
}
PLANT_HOST(segments_that_end_too_late)

// uninitialised
template <bool BUG> torch::Tensor maximum_of_nothing_written(torch::Tensor x) {
  auto y = torch::zeros_like(x), unset = torch::empty_like(x);
  const float* in = BUG ? unset.data_ptr<float>() : x.data_ptr<float>();
  size_t bytes = 64;
  auto storage = storage_of(bytes, x);
  cub::DeviceReduce::Max(storage.data_ptr(), bytes, in, y.data_ptr<float>(), x.numel());  // here
  return y;
}
PLANT_HOST(maximum_of_nothing_written)

// unwritten
template <bool BUG> torch::Tensor storage_that_is_too_small(torch::Tensor x) {
  auto y = torch::empty_like(x);
  size_t bytes = BUG ? 0 : 64;
  auto storage = storage_of(64, x);
  cub::DeviceScan::InclusiveSum(storage.data_ptr(), bytes, x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(storage_that_is_too_small)

// race
template <bool BUG> torch::Tensor scan_into_its_own_input(torch::Tensor x) {
  auto y = torch::zeros_like(x);
  float* data = y.data_ptr<float>();
  size_t bytes = 64;
  auto storage = storage_of(bytes, x);
  thrust::fill(thrust::device, data, data + x.numel(), 1.0f);
  cub::DeviceScan::InclusiveScan(storage.data_ptr(), bytes, data, data + BUG, cub::Max(), x.numel() - BUG);  // here
  return y;
}
PLANT_HOST(scan_into_its_own_input)

// race
template <bool BUG> torch::Tensor transform_of_a_neighbour(torch::Tensor x) {
  auto y = torch::zeros_like(x);
  float* data = y.data_ptr<float>();
  const auto stream = thrust::cuda::par.on(nullptr);
  thrust::transform(stream, data, data + 99, data + BUG, [] __device__(float v) { return v + 1.0f; });  // here
  return y;
}
PLANT_HOST(transform_of_a_neighbour)

// out-of-bounds
template <bool BUG> __global__ void sequential_scan_past_the_end(const float* x, float* y, int n) {
  const int row = threadIdx.x;
  if (row >= 10) return;
  const float* first = x + row * 10;
  const float* last = first + 10 + BUG;
  float sums[12];
  thrust::inclusive_scan(thrust::seq, first, last, sums, thrust::plus<float>());  // here
  for (int i = 0; i < 10; ++i) y[row * 10 + i] = sums[i];
}
PLANT(sequential_scan_past_the_end, 1, 32, 0)
