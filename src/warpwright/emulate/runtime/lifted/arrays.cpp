// Arrays of lifted numbers for Python: an array holds the positions of its numbers in one growing store.
#include <cmath>
#include <vector>

#include "columns.h"
#include "inputs.h"
#include "number.h"

using namespace warpwright::lifted;

namespace {

struct Store {
  std::vector<Number> numbers = std::vector<Number>(1, whole(0));
  std::vector<Origin> origins = std::vector<Origin>(1);
};

Store& store() {
  static Store made;
  return made;
}

Inputs& inputs() {
  static Inputs made;
  return made;
}

int64_t put(const Number& x, Origin origin) {
  if (is_zero(x)) return 0;
  store().numbers.push_back(x);
  store().origins.push_back(origin);
  return static_cast<int64_t>(store().numbers.size()) - 1;
}

const Number& at(int64_t position) { return store().numbers[static_cast<size_t>(position)]; }
Origin origin_of(int64_t position) { return store().origins[static_cast<size_t>(position)]; }

bool needs_square(Unary operation) { return operation == Unary::SQRT || operation == Unary::LOG; }
bool needs_square(Binary operation, const Number& b) {
  return operation == Binary::POWER && b.value != std::floor(b.value);
}

int64_t joined(int operation, int64_t a, int64_t b) {
  const auto join = static_cast<Binary>(operation);
  if (needs_square(join, at(b))) inputs().need_square(at(a), origin_of(a));
  return put(apply(join, at(a), at(b)), inputs().either(origin_of(a), origin_of(b)));
}

Columns columns(const int64_t* places, int64_t rows, int64_t depth) {
  Columns result(rows, depth);
  for (int64_t i = 0; i < rows * depth; ++i) result.set(i, at(places[i]));
  return result;
}

}  // namespace

extern "C" {

int64_t lifted_count() { return static_cast<int64_t>(store().numbers.size()); }

// Forgets all numbers beyond so many.
void lifted_keep(int64_t count) { store().numbers.resize(count), store().origins.resize(count); }

void lifted_forget_draws() { inputs().forget(); }

int64_t lifted_draw_again() { return inputs().draw_again(); }

void lifted_draw_best() { inputs().draw_best(); }

void lifted_put(const Number* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(from[i], {});
}

void lifted_get(const int64_t* from, int64_t count, Number* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = at(from[i]);
}

void lifted_values(const int64_t* from, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = at(from[i]).value;
}

void lifted_read(const float* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(read(from[i]), {});
}

void lifted_whole(const int64_t* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(whole(from[i]), {});
}

void lifted_draw(uint64_t seed, const double* from, int64_t count, int64_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = put(inputs().number(seed, from[i]), inputs().named(from[i]));
}

void lifted_unary(int operation, const int64_t* x, int64_t count, int64_t* to) {
  const auto function = static_cast<Unary>(operation);
  for (int64_t i = 0; i < count; ++i) {
    if (needs_square(function)) inputs().need_square(at(x[i]), origin_of(x[i]));
    to[i] = put(apply(function, at(x[i])), origin_of(x[i]).after(function));
  }
}

void lifted_binary(int operation, const int64_t* a, const int64_t* b, int64_t count, int64_t* to) {
  inputs().next_operation();
  for (int64_t i = 0; i < count; ++i) to[i] = joined(operation, a[i], b[i]);
}

// Joins the columns of each row; `running` keeps every partial result.
void lifted_reduce(int operation, const int64_t* x, int64_t rows, int64_t columns, bool running, int64_t* to) {
  const auto join = static_cast<Binary>(operation);
  inputs().next_operation();
  for (int64_t row = 0; row < rows; ++row, x += columns) {
    Number total = at(x[0]);
    Origin origin = origin_of(x[0]);
    for (int64_t column = 0; column < columns; ++column) {
      if (column > 0) total = apply(join, total, at(x[column])), origin = inputs().either(origin, origin_of(x[column]));
      if (running) *to++ = put(total, origin);
    }
    if (!running) *to++ = put(total, origin);
  }
}

// Joins each number with the one at a position of `to`, in order.
void lifted_join_at(int operation, const int64_t* from, const int64_t* position, int64_t count, int64_t* to) {
  inputs().next_operation();
  for (int64_t i = 0; i < count; ++i) to[position[i]] = joined(operation, to[position[i]], from[i]);
}

// c = a b^T for each matrix of a batch: both factors have the summed dimension last.
void lifted_product(const int64_t* a, const int64_t* b, int64_t batch, int64_t rows, int64_t others, int64_t depth, int64_t* to) {
  inputs().next_operation();
  const int64_t term = inputs().chance(depth);
  for (; batch > 0; --batch, a += rows * depth, b += others * depth) {
    const Columns left = columns(a, rows, depth), right = columns(b, others, depth);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t other = 0; other < others; ++other) {
        Origin origin;
        for (int64_t k = 0; k < depth && origin.is_none(); ++k) {
          const int64_t at = (term + k) % depth;
          origin = inputs().either(origin_of(a[row * depth + at]), origin_of(b[other * depth + at]));
        }
        *to++ = put(left.product(row, right, other), origin);
      }
  }
}

}  // extern "C"
