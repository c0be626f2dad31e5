// Rows of lifted numbers with values and residues apart, so that the compiler can vectorise products of rows.
#ifndef WARPWRIGHT_LIFTED_COLUMNS_H
#define WARPWRIGHT_LIFTED_COLUMNS_H

#include <cmath>
#include <vector>

#include "number.h"

namespace warpwright::lifted {

class Columns {
 public:
  Columns(int64_t rows, int64_t depth) : depth_(depth), values_(rows * depth), zeros_(rows * depth), opaque_(rows, 0) {
    for (int i = 0; i < LEVELS; ++i) residues_[i].resize(rows * depth), whole_[i].assign(rows, 1);
  }

  void set(int64_t position, const Number& x) {
    const int64_t row = position / depth_;
    values_[position] = x.value;
    zeros_[position] = is_zero(x);
    opaque_[row] |= x.flags;
    for (int i = 0; i < LEVELS; ++i) {
      residues_[i][position] = x.residue[i];
      whole_[i][row] &= x.residue[i] != LOST;
    }
  }

  Number product(int64_t row, const Columns& other, int64_t other_row) const {
    const int64_t a = row * depth_, b = other_row * depth_;
    double value = 0;
    for (int64_t k = 0; k < depth_; ++k) value += values_[a + k] * other.values_[b + k];
    Number result{value, {LOST, LOST, LOST, LOST}, opaque_[row] | other.opaque_[other_row]};
    for (int i = 0; i < LEVELS && std::isfinite(value); ++i)
      if ((whole_[i][row] && other.whole_[i][other_row]) || all_hidden(i, a, other, b))
        result.residue[i] = sum_of_products(&residues_[i][a], &other.residues_[i][b], P[i]);
    return result;
  }

 private:
  // Whether a zero hides everything that is lost in the other factor. Zeros are then the only terms with a lost factor,
  // and LOST times zero is zero below as well.
  bool all_hidden(int level, int64_t a, const Columns& other, int64_t b) const {
    for (int64_t k = 0; k < depth_; ++k) {
      const bool is_lost = residues_[level][a + k] == LOST || other.residues_[level][b + k] == LOST;
      if (is_lost && !zeros_[a + k] && !other.zeros_[b + k]) return false;
    }
    return true;
  }

  // Both halves of the products are summed apart: neither sum overflows below 2^32 terms.
  uint32_t sum_of_products(const uint32_t* x, const uint32_t* y, uint64_t modulus) const {
    uint64_t low = 0, high = 0;
    for (int64_t k = 0; k < depth_; ++k) {
      const uint64_t product = uint64_t{x[k]} * y[k];
      low += product & 0xffffffff, high += product >> 32;
    }
    return static_cast<uint32_t>((low % modulus + high % modulus * ((uint64_t{1} << 32) % modulus)) % modulus);
  }

  int64_t depth_;
  std::vector<double> values_;
  std::vector<unsigned char> zeros_, whole_[LEVELS];
  std::vector<uint32_t> residues_[LEVELS], opaque_;
};

}  // namespace warpwright::lifted

#endif
