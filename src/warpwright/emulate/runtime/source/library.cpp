#include "library.h"

#include <cmath>
#include <cstring>

#include "../../../seal/recorder/recorder.h"
#include "warpwright/half_bits.h"

namespace warpwright::emulated {
namespace {

size_t size_of(const std::string& dtype) {
  if (dtype == "float64" || dtype == "int64" || dtype == "complex64") return 8;
  if (dtype == "float32" || dtype == "int32" || dtype == "uint32") return 4;
  if (dtype == "float16" || dtype == "bfloat16" || dtype == "int16" || dtype == "uint16") return 2;
  if (dtype == "complex128") return 16;
  return 1;
}

template <class T>
T raw(uintptr_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T));
  return value;
}
template <class T>
void put(uintptr_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof(T));
}

double number(const Json& value, double otherwise) {
  if (auto whole = value.as<int64_t>()) return static_cast<double>(*whole);
  if (auto real = value.as<double>()) return *real;
  if (auto truth = value.as<bool>()) return *truth ? 1.0 : 0.0;
  return otherwise;
}

double option(const Json& node, const char* name, double otherwise) {
  const Json* given = node.at("options").find(name);
  return given ? number(*given, otherwise) : otherwise;
}

using Views = std::vector<View>;

// Element by element, in the shape of the output; smaller operands are repeated.
void pointwise(const View& output, const Views& inputs,
               const std::function<double(const std::vector<double>&)>& compute) {
  const int64_t count = output.count();
  std::vector<int64_t> index(output.shape.size());
  std::vector<double> values(inputs.size());
  std::vector<uintptr_t> targets = output.addresses();
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      uintptr_t address = inputs[k].base;
      const size_t lead = output.shape.size() - inputs[k].shape.size();
      for (size_t d = 0; d < inputs[k].shape.size(); ++d)
        if (inputs[k].shape[d] != 1) address += static_cast<uintptr_t>(index[d + lead] * inputs[k].stride[d]);
      values[k] = inputs[k].load(address);
    }
    output.store(targets[static_cast<size_t>(i)], compute(values));
    for (size_t d = output.shape.size(); d-- > 0;) {
      if (++index[d] < output.shape[d]) break;
      index[d] = 0;
    }
  }
}

// Arithmetic of products: how elements are read, joined and written.
struct Doubles {
  using Value = double;
  static double load(const View& view, uintptr_t address) { return view.load(address); }
  static void store(const View& view, uintptr_t address, double value) { view.store(address, value); }
  static double joined(double a, double b, double c) { return a * b + c; }
  static double constant(double value) { return value; }
};
struct Lifted {
  using Value = uint32_t;
  static uint32_t load(const View& view, uintptr_t address) { return lifted_load(address, view.dtype); }
  static void store(const View& view, uintptr_t address, uint32_t value) {
    lifted_store(address, view.dtype, value);
    view.written(address);
  }
  static uint32_t joined(uint32_t a, uint32_t b, uint32_t c) { return lifted_multiply_add(a, b, c); }
  static uint32_t constant(double value) { return lifted_constant(value); }
};

struct Matrix {
  uintptr_t base;
  int64_t rows, columns, row_stride, column_stride;
  uintptr_t at(int64_t i, int64_t j) const { return base + static_cast<uintptr_t>(i * row_stride + j * column_stride); }
};
Matrix matrix_of(const View& view, int64_t batch) {
  const size_t n = view.shape.size();
  const int64_t lead = n > 2 ? (view.shape[0] == 1 ? 0 : batch) * view.stride[0] : 0;
  return {view.base + static_cast<uintptr_t>(lead), view.shape[n - 2], view.shape[n - 1], view.stride[n - 2],
          view.stride[n - 1]};
}

// out = alpha * a @ b + beta * addend, accumulated in double.
template <class A>
void multiply(const View& out, const View& a, const View& b, const View* addend, double alpha, double beta) {
  const int64_t batches = out.shape.size() > 2 ? out.shape[0] : 1;
  for (int64_t batch = 0; batch < batches; ++batch) {
    const Matrix x = matrix_of(a, batch), y = matrix_of(b, batch), z = matrix_of(out, batch);
    for (int64_t i = 0; i < z.rows; ++i)
      for (int64_t j = 0; j < z.columns; ++j) {
        typename A::Value sum = A::constant(0), extra = A::constant(0);
        for (int64_t k = 0; k < x.columns; ++k) sum = A::joined(A::load(a, x.at(i, k)), A::load(b, y.at(k, j)), sum);
        if (addend && beta != 0) {
          const size_t n = addend->shape.size();
          uintptr_t from = addend->base;
          if (n > 2 && addend->shape[0] != 1) from += static_cast<uintptr_t>(batch * addend->stride[0]);
          if (n > 1 && addend->shape[n - 2] != 1) from += static_cast<uintptr_t>(i * addend->stride[n - 2]);
          if (n > 0 && addend->shape[n - 1] != 1) from += static_cast<uintptr_t>(j * addend->stride[n - 1]);
          extra = A::joined(A::constant(beta), A::load(*addend, from), extra);
        }
        A::store(out, z.at(i, j), A::joined(A::constant(alpha), sum, extra));
      }
  }
}

// Sums, means and extremes over dimensions: every input element goes to the output element it belongs to.
void reduce(const Json& node, const View& output, const View& input, const std::string& how) {
  std::vector<bool> reduced(input.shape.size(), true);
  const Json* dims = node.at("options").find("dim");
  if (dims && !dims->is_null()) {
    std::vector<int64_t> list = dims->as<Array>() ? dims->wholes() : std::vector<int64_t>{dims->whole()};
    if (!list.empty()) reduced.assign(input.shape.size(), false);
    for (int64_t d : list)
      reduced.at(static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(input.shape.size()) : d)) = true;
  }
  const bool kept = output.shape.size() == input.shape.size();
  std::vector<uintptr_t> from = input.addresses(), to = output.addresses();
  const double start = how == "amax" ? -INFINITY : how == "amin" ? INFINITY : 0.0;
  std::vector<double> totals(to.size(), start);
  std::vector<int64_t> index(input.shape.size());
  for (uintptr_t address : from) {
    size_t target = 0, o = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      if (reduced[d] && !kept) continue;
      target = target * static_cast<size_t>(output.shape[o++]) + (reduced[d] ? 0 : static_cast<size_t>(index[d]));
    }
    const double value = input.load(address);
    totals[target] = how == "amax"   ? std::fmax(totals[target], value)
                     : how == "amin" ? std::fmin(totals[target], value)
                                     : totals[target] + value;
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < input.shape[d]) break;
      index[d] = 0;
    }
  }
  const double share =
      how == "mean" && !to.empty() ? static_cast<double>(to.size()) / static_cast<double>(from.size()) : 1.0;
  for (size_t i = 0; i < to.size(); ++i) output.store(to[i], totals[i] * share);
}

bool is_copy(const std::string& name) {
  return name == "copy_" || name == "clone" || name == "contiguous" || name == "_to_copy" || name == "to";
}

using Compute = std::function<double(const std::vector<double>&)>;
Compute pointwise_named(const std::string& name, const Json& node) {
  auto second = [&node](const char* option_name) { return option(node, option_name, 0.0); };
  if (is_copy(name))
    return [](auto& v) { return v.back(); };
  const double alpha = option(node, "alpha", 1.0);
  if (name == "add.Tensor" || name == "add_.Tensor") return [=](auto& v) { return v[0] + alpha * v[1]; };
  if (name == "sub.Tensor" || name == "sub_.Tensor") return [=](auto& v) { return v[0] - alpha * v[1]; };
  if (name == "mul.Tensor" || name == "mul_.Tensor") return [](auto& v) { return v[0] * v[1]; };
  if (name == "div.Tensor" || name == "div_.Tensor") return [](auto& v) { return v[0] / v[1]; };
  const double other = second("other");
  if (name == "add.Scalar" || name == "add_.Scalar") return [=](auto& v) { return v[0] + alpha * other; };
  if (name == "sub.Scalar" || name == "sub_.Scalar") return [=](auto& v) { return v[0] - alpha * other; };
  if (name == "mul.Scalar" || name == "mul_.Scalar") return [=](auto& v) { return v[0] * other; };
  if (name == "div.Scalar" || name == "div_.Scalar") return [=](auto& v) { return v[0] / other; };
  if (name == "maximum") return [](auto& v) { return v[0] < v[1] ? v[1] : v[0]; };
  if (name == "minimum") return [](auto& v) { return v[1] < v[0] ? v[1] : v[0]; };
  if (name == "relu" || name == "relu_") return [](auto& v) { return v[0] < 0 ? 0.0 : v[0]; };
  if (name == "neg") return [](auto& v) { return -v[0]; };
  if (name == "exp") return [](auto& v) { return std::exp(v[0]); };
  if (name == "log") return [](auto& v) { return std::log(v[0]); };
  if (name == "sqrt") return [](auto& v) { return std::sqrt(v[0]); };
  if (name == "rsqrt") return [](auto& v) { return 1.0 / std::sqrt(v[0]); };
  if (name == "sigmoid") return [](auto& v) { return 1.0 / (1.0 + std::exp(-v[0])); };
  if (name == "silu") return [](auto& v) { return v[0] / (1.0 + std::exp(-v[0])); };
  if (name == "tanh") return [](auto& v) { return std::tanh(v[0]); };
  if (name == "abs") return [](auto& v) { return std::fabs(v[0]); };
  if (name == "reciprocal") return [](auto& v) { return 1.0 / v[0]; };
  return nullptr;
}

// input @ weight.T + bias, whatever dimensions lead.
template <class A>
void linear(const View& out, const View& input, const View& weight, const View* bias) {
  const std::vector<uintptr_t> x = input.addresses(), w = weight.addresses(), y = out.addresses();
  const size_t columns = static_cast<size_t>(weight.shape[0]), depth = static_cast<size_t>(weight.shape[1]);
  const std::vector<uintptr_t> extra = bias ? bias->addresses() : std::vector<uintptr_t>();
  for (size_t i = 0; i < y.size(); ++i) {
    typename A::Value sum = bias ? A::load(*bias, extra[i % columns]) : A::constant(0);
    for (size_t k = 0; k < depth; ++k)
      sum = A::joined(A::load(input, x[i / columns * depth + k]), A::load(weight, w[i % columns * depth + k]), sum);
    A::store(out, y[i], sum);
  }
}

template <class A>
bool carry_out_product(const std::string& name, const Json& node, const View& out, const Views& in) {
  if (name == "mm" || name == "bmm") return multiply<A>(out, in[0], in[1], nullptr, 1, 0), true;
  if (name == "matmul" && in[0].shape.size() == out.shape.size() && in[1].shape.size() == out.shape.size() &&
      out.shape.size() <= 3)
    return multiply<A>(out, in[0], in[1], nullptr, 1, 0), true;
  if (name == "addmm" || name == "baddbmm")
    return multiply<A>(out, in[1], in[2], &in[0], option(node, "alpha", 1), option(node, "beta", 1)), true;
  if (name == "linear" && in[1].shape.size() == 2)
    return linear<A>(out, in[0], in[1], in.size() > 2 ? &in[2] : nullptr), true;
  if (name == "cublas.gemm")
    return multiply<A>(out, in[1], in[2], &in[0], option(node, "alpha", 1), option(node, "beta", 0)), true;
  return false;
}

}  // namespace

View::View(const Json& view, Region& memory)
    : region(&memory),
      base(memory.base + static_cast<uintptr_t>(view.at("offset").whole())),
      shape(view.at("shape").wholes()),
      stride(view.at("stride").wholes()),
      dtype(view.at("dtype").string()),
      element_bytes(size_of(dtype)) {
  for (int64_t& step : stride) step *= static_cast<int64_t>(element_bytes);
}

int64_t View::count() const {
  int64_t product = 1;
  for (int64_t extent : shape) product *= extent;
  return product;
}

void View::each(const std::function<void(uintptr_t)>& visit) const {
  std::vector<int64_t> index(shape.size());
  for (int64_t i = 0, n = count(); i < n; ++i) {
    uintptr_t address = base;
    for (size_t d = 0; d < shape.size(); ++d) address += static_cast<uintptr_t>(index[d] * stride[d]);
    if (!region->holds(address, element_bytes)) throw std::runtime_error("a view beyond its buffer");
    visit(address);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

std::vector<uintptr_t> View::addresses() const {
  std::vector<uintptr_t> list;
  each([&](uintptr_t address) { list.push_back(address); });
  return list;
}

double View::load(uintptr_t address) const {
  if (dtype == "float32") return raw<float>(address);
  if (dtype == "float64") return raw<double>(address);
  if (dtype == "float16") return HalfBits::widen(raw<uint16_t>(address));
  if (dtype == "bfloat16") return BFloat16Bits::widen(raw<uint16_t>(address));
  if (dtype == "int64") return static_cast<double>(raw<int64_t>(address));
  if (dtype == "int32") return raw<int32_t>(address);
  if (dtype == "int16") return raw<int16_t>(address);
  if (dtype == "int8") return raw<int8_t>(address);
  if (dtype == "uint8" || dtype == "bool") return raw<uint8_t>(address);
  unsupported(("library operations on " + dtype).c_str());
}

void View::store(uintptr_t address, double value) const {
  if (dtype == "float32")
    put(address, static_cast<float>(value));
  else if (dtype == "float64")
    put(address, value);
  else if (dtype == "float16")
    put(address, static_cast<uint16_t>(HalfBits::narrow(static_cast<float>(value))));
  else if (dtype == "bfloat16")
    put(address, static_cast<uint16_t>(BFloat16Bits::narrow(static_cast<float>(value))));
  else if (dtype == "int64")
    put(address, static_cast<int64_t>(value));
  else if (dtype == "int32")
    put(address, static_cast<int32_t>(value));
  else if (dtype == "int16")
    put(address, static_cast<int16_t>(value));
  else if (dtype == "int8")
    put(address, static_cast<int8_t>(value));
  else if (dtype == "uint8")
    put(address, static_cast<uint8_t>(value));
  else if (dtype == "bool")
    put(address, static_cast<uint8_t>(value != 0));
  else
    unsupported(("library operations on " + dtype).c_str());
  written(address);
}

void View::written(uintptr_t address) const {
  if (element_bytes < 1u << region->shift) region->refine(element_bytes == 2 ? 1 : 0);
  region->mark(address, element_bytes, BY_HOST);
}

void fill(const View& target, const Json& value) {
  const double wanted = number(value, 0.0);
  target.each([&](uintptr_t address) { target.store(address, wanted); });
}

struct Operands {
  Views inputs, outputs;
};

// The operands of an operation on device tensors; nothing for other ones.
std::optional<Operands> operands_of(const Json& node, const std::function<View(const Json&)>& view) {
  Operands found;
  for (const Json& input : node.at("inputs").array()) {
    if (input.is_null()) continue;  // an optional one that is last in every operation here
    if (!input.find("buffer")) return std::nullopt;
    found.inputs.push_back(view(input));
  }
  for (const Json& output : node.at("outputs").array()) found.outputs.push_back(view(output));
  if (found.outputs.size() != 1 || found.inputs.empty()) return std::nullopt;
  return found;
}

bool carry_out_lifted(const Json& node, const std::function<View(const Json&)>& view) {
  const std::string& name = node.at("operation").string();
  const auto given = operands_of(node, view);
  if (!given) return false;
  const View &from = given->inputs.back(), &to = given->outputs[0];
  if (!is_copy(name)) return carry_out_product<Lifted>(name, node, to, given->inputs);
  const std::vector<uintptr_t> sources = from.addresses(), targets = to.addresses();
  if (sources.size() != targets.size()) return false;
  for (size_t i = 0; i < sources.size(); ++i) {
    lifted_copy(sources[i], from.dtype, targets[i], to.dtype);
    to.written(targets[i]);
  }
  return true;
}

bool carry_out_library(const Json& node, const std::function<View(const Json&)>& view) {
  const std::string& name = node.at("operation").string();
  const auto given = operands_of(node, view);
  if (!given) return false;
  const View& output = given->outputs[0];
  if (carry_out_product<Doubles>(name, node, output, given->inputs)) return true;
  const std::string family = name.substr(0, name.find('.'));
  if (family == "sum" || family == "mean" || family == "amax" || family == "amin")
    return reduce(node, output, given->inputs[0], family), true;
  const Compute compute = pointwise_named(name, node);
  if (compute) pointwise(output, given->inputs, compute);
  return compute != nullptr;
}

}  // namespace warpwright::emulated
