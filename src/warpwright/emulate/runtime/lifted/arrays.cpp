// Arrays of lifted numbers for Python: an array holds the positions of its numbers in one growing store.
#include <cmath>
#include <cstring>
#include <vector>

#include "columns.h"
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

// A random number that stands for an input: equal values stand for equal numbers, opposite ones for opposite.
Number drawn(uint64_t seed, double value) {
  if (!std::isfinite(value)) return lost(value);
  if (value == 0) return whole(0);
  Number result{std::fabs(value), {}, 0};
  uint64_t bits;
  std::memcpy(&bits, &result.value, sizeof bits);
  for (uint32_t i = 0; i < LEVELS; ++i) result.residue[i] = hashed(bits ^ (seed + i + 1) * 0x9e3779b97f4a7c15ull, P[i]);
  return value < 0 ? negated(result) : result;
}

Columns columns(const int64_t* places, int64_t rows, int64_t depth) {
  Columns result(rows, depth);
  for (int64_t i = 0; i < rows * depth; ++i) result.set(i, at(places[i]));
  return result;
}

}  // namespace

extern "C" {

int64_t lifted_count() { return static_cast<int64_t>(store().size()); }

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

void lifted_whole(const int64_t* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(whole(from[i]));
}

void lifted_draw(uint64_t seed, const double* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(drawn(seed, from[i]));
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

// Joins each number with the one at a position of `to`, in order.
void lifted_join_at(int operation, const int64_t* from, const int64_t* position, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[position[i]] = put(joined(operation, at(to[position[i]]), at(from[i])));
}

// c = a b^T for each matrix of a batch: both factors have the summed dimension last.
void lifted_product(const int64_t* a, const int64_t* b, int64_t batch, int64_t rows, int64_t others, int64_t depth, int64_t* to) {
  for (; batch > 0; --batch, a += rows * depth, b += others * depth) {
    const Columns left = columns(a, rows, depth), right = columns(b, others, depth);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t other = 0; other < others; ++other)
        *to++ = put(left.product(row, right, other));
  }
}

}  // extern "C"
