// Random numbers that stand for inputs. One is drawn anew, level by level, where a root or logarithm of something that
// depends on it does not exist: half of the residues are no squares. Which of its inputs is drawn anew differs from one
// attempt to the next, but is the same throughout an operation: rows of a product then change apart from each other if
// they have an input of their own. Attempts that make things worse are undone.
#ifndef WARPWRIGHT_LIFTED_INPUTS_H
#define WARPWRIGHT_LIFTED_INPUTS_H

#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "number.h"

namespace warpwright::lifted {

// An input that a number depends on. The number's residue at a level depends on that of the input so many levels
// further: exp moves residues by one level, and log moves them back.
struct Origin {
  uint32_t input = 0;
  int levels_further = 0;

  bool is_none() const { return input == 0; }
  Origin after(Unary function) const {
    const bool is_exp = function == Unary::EXP || function == Unary::TANH;
    return {input, levels_further + is_exp - (function == Unary::LOG)};
  }
};

class Inputs {
 public:

  void forget() { *this = Inputs(); }

  // The name of an input: equal values have one name, and so do opposite ones.
  Origin named(double value) {
    if (!std::isfinite(value) || value == 0) return {};
    const auto [found, is_new] = names_.try_emplace(bits(std::fabs(value)), static_cast<uint32_t>(draws_.size()));
    if (is_new) draws_.emplace_back();
    return {found->second};
  }

  Number number(uint64_t seed, double value) {
    if (!std::isfinite(value)) return lost(value);
    if (value == 0) return whole(0);
    Number result = whole(0);
    result.value = std::fabs(value);
    const auto& draws = draws_[named(value).input];
    for (int i = 0; i < LEVELS; ++i) {
      const uint64_t salt = (seed << 32) + (uint64_t{draws[i]} << 8) + i;
      result.residue[i] = hashed(bits(result.value) ^ salt * 0x9e3779b97f4a7c15ull, P[i]);
    }
    return value < 0 ? negated(result) : result;
  }

  void next_operation() { chance_ = hashed(attempt_ << 32 | ++operation_, 1u << 31); }

  // A number that is random for each operation and attempt.
  int64_t chance(int64_t below) const { return below > 0 ? chance_ % below : 0; }

  // One of the inputs that the result of two operands depends on, by chance.
  Origin either(Origin a, Origin b) const { return b.is_none() || (!a.is_none() && chance_ % 2) ? a : b; }

  void need_square(const Number& x, Origin origin) {
    for (int i = 0; i < LEVELS && !origin.is_none(); ++i) {
      const int level = i + origin.levels_further;
      const bool is_known = x.residue[i] != LOST && x.residue[i] != 0 && level >= 0 && level < LEVELS;
      if (is_known && !is_square(x.residue[i], P[i])) ++failures_, missing_.emplace(origin.input, level);
    }
  }

  // Draws inputs anew, and tells how many roots and logarithms were missing.
  int64_t draw_again() {
    const int64_t count = failures_;
    if (count <= fewest_) {
      fewest_ = count, best_ = draws_;
      for (const auto& [input, level] : missing_) ++draws_[input][level];
    } else {
      draws_ = best_;
    }
    missing_.clear(), failures_ = 0, operation_ = 0, ++attempt_;
    return count;
  }

  void draw_best() { draws_ = best_; }

 private:
  static uint64_t bits(double value) {
    uint64_t result;
    std::memcpy(&result, &value, sizeof result);
    return result;
  }

  using Draws = std::vector<std::array<uint32_t, LEVELS>>;
  std::unordered_map<uint64_t, uint32_t> names_;
  Draws draws_ = Draws(1), best_ = Draws(1);
  std::set<std::pair<uint32_t, int>> missing_;
  int64_t failures_ = 0, fewest_ = INT64_MAX;
  uint64_t attempt_ = 0, operation_ = 0, chance_ = 0;
};

}  // namespace warpwright::lifted

#endif
