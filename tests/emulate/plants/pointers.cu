// Pointers to nothing, to memory that is gone, to the host's memory, and to nowhere at all. n = 100.

static __global__ void adds(const float* x, const float* bias, float* y, int n) {
  const int t = threadIdx.x;
  if (t < n) y[t] = x[t] + bias[t % 4];  // here
}
template <class Bias> static torch::Tensor added(torch::Tensor x, Bias bias) {
  auto y = torch::empty_like(x);
  adds<<<1, 128>>>(x.data_ptr<float>(), bias, y.data_ptr<float>(), x.numel());
  return y;
}

// null fault
template <bool BUG> torch::Tensor bias_that_was_never_given(torch::Tensor x) {
  return added(x, BUG ? static_cast<float*>(nullptr) : x.data_ptr<float>());
}
PLANT_HOST(bias_that_was_never_given)

// null fault
template <bool BUG> __global__ void writes_through_null(const float* x, float* y, int n) {
  float* target = BUG && threadIdx.x == 99 ? nullptr : y + threadIdx.x;
  if (threadIdx.x < n) *target = x[threadIdx.x];  // here
}
PLANT(writes_through_null, 1, 128, 0)

struct Row { float* values; int length; };
// null fault
template <bool BUG> __global__ void member_of_an_empty_row(const float* x, float* y, int n) {
  Row rows[2] = {{y, n}, {BUG ? nullptr : y, n}};
  const Row row = rows[threadIdx.x % 2];
  if (threadIdx.x < row.length) row.values[threadIdx.x] = x[threadIdx.x];  // here
}
PLANT(member_of_an_empty_row, 1, 128, 0)

// freed
template <bool BUG> torch::Tensor scratch_of_an_inner_scope(torch::Tensor x) {
  float* scratch;
  auto kept = torch::zeros({4}, x.options());
  {
    auto inner = torch::zeros({4}, x.options());
    scratch = BUG ? inner.data_ptr<float>() : kept.data_ptr<float>();
  }
  return added(x, scratch);
}
PLANT_HOST(scratch_of_an_inner_scope)

// freed
template <bool BUG> torch::Tensor pointer_of_a_passing_clone(torch::Tensor x) {
  torch::Tensor kept = x.clone();
  float* pointer = BUG ? x.clone().data_ptr<float>() : kept.data_ptr<float>();
  return added(x, pointer);
}
PLANT_HOST(pointer_of_a_passing_clone)

// freed
template <bool BUG> torch::Tensor tensor_assigned_anew(torch::Tensor x) {
  auto bias = torch::zeros({4}, x.options());
  float* pointer = bias.data_ptr<float>();
  if (BUG) bias = torch::zeros({8}, x.options());
  return added(x, pointer);
}
PLANT_HOST(tensor_assigned_anew)

// freed
template <bool BUG> torch::Tensor list_cleared_too_early(torch::Tensor x) {
  std::vector<torch::Tensor> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(torch::zeros({4}, x.options()));
  float* pointer = parts[1].data_ptr<float>();
  if (BUG) parts.clear();
  return added(x, pointer);
}
PLANT_HOST(list_cleared_too_early)

// host-memory fault
template <bool BUG> torch::Tensor bias_on_the_hosts_stack(torch::Tensor x) {
  float bias[4] = {1, 2, 3, 4};
  return added(x, BUG ? bias : x.data_ptr<float>());
}
PLANT_HOST(bias_on_the_hosts_stack)

// host-memory fault
template <bool BUG> torch::Tensor bias_in_a_vector(torch::Tensor x) {
  static std::vector<float> bias(4, 1.0f);
  return added(x, BUG ? bias.data() : x.data_ptr<float>());
}
PLANT_HOST(bias_in_a_vector)

// host-memory fault
template <bool BUG> torch::Tensor bias_from_new(torch::Tensor x) {
  static float* bias = new float[4]();
  return added(x, BUG ? bias : x.data_ptr<float>());
}
PLANT_HOST(bias_from_new)

static __global__ void adds_of(const float* x, const Row* row, float* y, int n) {
  const int t = threadIdx.x;
  if (t < n) y[t] = x[t] + row->values[t % 4];  // here
}
// host-memory fault
template <bool BUG> torch::Tensor structure_by_its_hosts_address(torch::Tensor x) {
  static Row row;
  row = Row{x.data_ptr<float>(), 4};
  Row* heap = new Row(row);
  auto y = torch::empty_like(x);
  if (BUG)
    adds_of<<<1, 128>>>(x.data_ptr<float>(), heap, y.data_ptr<float>(), x.numel());
  else
    adds<<<1, 128>>>(x.data_ptr<float>(), row.values, y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(structure_by_its_hosts_address)

// fault host-memory
template <bool BUG> __global__ void address_without_its_upper_half(const float* x, float* y, int n) {
  const auto address = reinterpret_cast<unsigned long long>(x + threadIdx.x);
  const auto* cut = reinterpret_cast<const float*>(BUG ? address & 0x7fffffffull | 0x40000000ull : address);
  if (threadIdx.x < n) y[threadIdx.x] = *cut;  // here
}
PLANT(address_without_its_upper_half, 1, 128, 0)

// fault host-memory
template <bool BUG> __global__ void value_taken_for_an_address(const float* x, float* y, int n) {
  const auto bits = static_cast<unsigned long long>(__float_as_uint(x[1])) << 12;
  const float* there = BUG ? reinterpret_cast<const float*>(bits) : x;
  if (threadIdx.x < n) y[threadIdx.x] = there[threadIdx.x];  // here
}
PLANT(value_taken_for_an_address, 1, 128, 0)

// fault host-memory
template <bool BUG> __global__ void pointers_added_up(const float* x, float* y, int n) {
  const auto sum = reinterpret_cast<unsigned long long>(x) + (BUG ? reinterpret_cast<unsigned long long>(y) : 0ull);
  if (threadIdx.x < n) y[threadIdx.x] = reinterpret_cast<const float*>(sum)[threadIdx.x];  // here
}
PLANT(pointers_added_up, 1, 128, 0)

// fault host-memory
template <bool BUG> __global__ void pointer_shifted_as_if_an_index(const float* x, float* y, int n) {
  const auto address = reinterpret_cast<unsigned long long>(x);
  const auto* there = reinterpret_cast<const float*>(BUG ? address << 2 : address);
  if (threadIdx.x < n) y[threadIdx.x] = there[threadIdx.x];  // here
}
PLANT(pointer_shifted_as_if_an_index, 1, 128, 0)
