// Blocks that wait for blocks which have not begun: in an ordinary launch none need begin before others have ended.
#include "machine.h"

namespace warpwright::emulated {
namespace {

constexpr unsigned MOST_TURNS = 32;  // after which a block that was never met twice in the same state is left alone

// The threads that wait in loops, registers and stacks, and how far memory has changed. Empty where that cannot be seen.
std::string state_of(const Block& block, uint64_t progress) {
  std::string state = std::to_string(progress);
  for (const Thread& thread : block.threads) {
    if (thread.state != State::POLLING) continue;
    if (thread.in_use().empty()) return {};
    state += thread.in_use();
  }
  return state;
}

}  // namespace

// The first block of a launch that waits: all that began before it have ended. If it is met twice in the same state, it
// goes on when another block has changed something and not before, and that block has yet to begin. A loop that counts
// its turns is never in the same state, because it may give up by itself.
Machine::Result Machine::watch(Block& block) {
  Result result = Result::STUCK;
  std::string earlier;
  for (unsigned turn = 1; result == Result::STUCK && turn <= MOST_TURNS; ++turn) {
    std::string now = state_of(block, all_progress());
    if (!now.empty() && now == earlier) return note_premature(block), result;
    if ((turn & (turn - 1)) == 0) earlier = std::move(now);
    result = proceed(block);
  }
  return result;
}

void Machine::note_premature(Block& block) {
  Finding finding = wait_of(block);
  finding.kind = "waits-for-unbegun";
  finding.severity = Severity::LIKELY;
  finding.message =
      "waits for what only a block that has not begun can do: CUDA promises no order of blocks in an ordinary launch; "
      "launch cooperatively, or draw the number of a block from an atomic counter";
  premature_ = placed(std::move(finding));
}

}  // namespace warpwright::emulated
