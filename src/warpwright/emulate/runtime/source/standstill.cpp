// Detects blocks that wait in loops for ever, or for a block that need not start before they end.
#include "machine.h"

namespace warpwright::emulated {

bool Standstill::is_proved(std::string now) {
  if (!now.empty() && now == earlier_) return true;
  // At longer and longer intervals, so that loops of any length come round, whatever they did at first.
  if ((++rounds_ & (rounds_ - 1)) == 0) earlier_ = std::move(now);
  return false;
}

// How far memory has changed, and registers and stacks of all threads; empty where those cannot be seen.
std::string Machine::state_of(const Block& block) const {
  std::string state = std::to_string(changes());
  for (const Thread& thread : block.threads) {
    if (thread.state == State::DONE) continue;
    if (thread.in_use().empty()) return {};
    state += thread.in_use();
  }
  return state;
}

std::string Machine::state_of(Blocks blocks) const {
  std::string all;
  for (auto& block : blocks) {
    if (block->live == 0) continue;
    const std::string state = state_of(*block);
    if (state.empty()) return state;
    all += state;
  }
  return all;
}

// Called when all remaining blocks have had a turn.
void Machine::judge_standstill(Blocks blocks, uint64_t before) {
  if (changes() != before)
    standstill_ = {};
  else if (standstill_.is_proved(state_of(blocks)) || standstill_.is_long())
    stand_still(blocks);
}

void Machine::stand_still(Blocks blocks) {
  if (sampled) return void(ending = {"stopped", "blocks wait for others that were left out"});
  if (clustered_ && launch->cooperative) return void(ending = {"unsupported", "clusters that wait for each other"});
  Finding finding = wait_of(blocks);
  finding.kind = "hang";
  finding.message = "threads wait in a loop for memory that nobody will change";
  report(std::move(finding));
  ending = {"stopped", "hang"};
}

// Where the first thread that waits in a loop does so.
Finding Machine::wait_of(Blocks blocks) {
  Finding finding;
  for (auto& block : blocks)
    for (unsigned i = 0; i < block->threads.size(); ++i)
      if (block->threads[i].state == State::POLLING) {
        finding.site = block->threads[i].waiting.site;
        block_ = block.get(), thread_ = i;
        return finding;
      }
  return finding;
}

// The first block of a launch that waits: all that began before it have ended. If it is met twice in the same state, it
// goes on when another block has changed something and not before, and that block has yet to begin. A loop that counts
// its turns is never in the same state, because it may give up by itself.
Machine::Result Machine::watch(const std::unique_ptr<Block>& block) {
  constexpr unsigned MOST_TURNS = 32;
  Standstill standstill;
  Result result = Result::STUCK;
  for (unsigned turn = 0; result == Result::STUCK && turn < MOST_TURNS; ++turn) {
    if (standstill.is_proved(state_of(*block))) return note_premature(Blocks(&block, 1)), result;
    result = proceed(*block);
  }
  return result;
}

void Machine::note_premature(Blocks blocks) {
  Finding finding = wait_of(blocks);
  finding.kind = "waits-for-unbegun";
  finding.severity = Severity::LIKELY;
  finding.message =
      "waits for what only a block that has not begun can do: CUDA promises no order of blocks in an ordinary launch; "
      "launch cooperatively, or draw the number of a block from an atomic counter";
  premature_ = placed(std::move(finding));
}

}  // namespace warpwright::emulated
