// Arrays of lifted numbers for Python: an array holds the positions of its numbers in one growing store.
#include <cstring>
#include <limits>
#include <vector>

#include "number.h"

using namespace warpwright::lifted;

namespace {

std::vector<Number>& store() {
  static std::vector<Number> numbers(1, whole(0));
  return numbers;
}

int64_t put(const Number& x) {
  if (is_zero(x)) return 0;
  store().push_back(x);
  return static_cast<int64_t>(store().size()) - 1;
}

const Number& at(int64_t position) { return store()[static_cast<size_t>(position)]; }

Number joined(int operation, const Number& a, const Number& b) { return apply(static_cast<Binary>(operation), a, b); }

}  // namespace

extern "C" {

void lifted_clear() { store().resize(1); }

void lifted_put(const Number* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(from[i]);
}

void lifted_get(const int64_t* from, int64_t count, Number* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = at(from[i]);
}

void lifted_values(const int64_t* from, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = at(from[i]).value;
}

void lifted_read(const float* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(read(from[i]));
}

void lifted_unary(int operation, const int64_t* x, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(apply(static_cast<Unary>(operation), at(x[i])));
}

void lifted_binary(int operation, const int64_t* a, const int64_t* b, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(joined(operation, at(a[i]), at(b[i])));
}

// Joins the columns of each row; `running` keeps every partial result.
void lifted_reduce(int operation, const int64_t* x, int64_t rows, int64_t columns, bool running, int64_t* to) {
  for (int64_t row = 0; row < rows; ++row) {
    Number total{};
    for (int64_t column = 0; column < columns; ++column) {
      const Number& next = at(x[row * columns + column]);
      total = column == 0 ? next : joined(operation, total, next);
      if (running) to[row * columns + column] = put(total);
    }
    if (!running) to[row] = put(total);
  }
}

// c = a b^T: both factors have the summed dimension last.
void lifted_product(const int64_t* a, const int64_t* b, int64_t rows, int64_t columns, int64_t depth, int64_t* to) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      Number total = whole(0);
      for (int64_t k = 0; k < depth; ++k) total = add(total, multiply(at(a[row * depth + k]), at(b[column * depth + k])));
      to[row * columns + column] = put(total);
    }
}

}  // extern "C"
