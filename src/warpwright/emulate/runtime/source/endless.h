// Detects infinite loops. A thread that returns to the same place with the same registers, the same stack and the same
// memory loops for ever; merely exceeding the step limit proves nothing.
#ifndef WARPWRIGHT_EMULATE_ENDLESS_H
#define WARPWRIGHT_EMULATE_ENDLESS_H

#include <string>
#include <unordered_map>

#include "shadow.h"

namespace warpwright::emulated {

// The next access of a thread that was stopped for inspection.
struct Glimpse {
  uint32_t site = 0;
  uintptr_t address = 0;
  size_t bytes = 0;  // of a write; 0 for a read
  bool awaits = false;  // it reads what others are meant to change: that it has not changed yet proves nothing
};

class Proof {
 public:
  enum class Answer : uint8_t { NOT_YET, ENDLESS, GIVEN_UP };

  bool running() const { return left_ > 0; }
  void begin() { *this = Proof(), left_ = PATIENCE; }
  void clear() { *this = Proof(); }
  // `stack` is all of it that is in use, registers included; `progress` changes when memory does by other ways.
  Answer look(const Glimpse& glimpse, std::string stack, uint64_t progress);

 private:
  static constexpr int PATIENCE = 4000;
  bool memory_changed(uint64_t progress) const;
  int left_ = 0;
  uint64_t progress_ = 0;
  Glimpse last_;
  std::string before_;
  std::unordered_map<uint32_t, std::string> seen_;
};

// Detects threads that wait in loops while nothing else happens, by comparing states. The same state twice proves
// that only other threads can end the wait.
class Standstill {
 public:
  bool is_proved(std::string now);
  // Loops that count their turns are never in the same state: those are given much time to end.
  bool is_long() const { return rounds_ >= 256; }

 private:
  unsigned rounds_ = 0;
  std::string earlier_;
};

}  // namespace warpwright::emulated

#endif
