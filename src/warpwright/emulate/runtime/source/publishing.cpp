// Synchronisation without barriers: a fence, a flag in memory, and the threads that read it.
#include <algorithm>

#include "machine.h"

namespace warpwright::emulated {
namespace {

void keep(std::vector<Release>& releases, const Release& latest) {
  for (Release& release : releases)
    if (release.block == latest.block && release.thread == latest.thread) {
      release = latest;
      return;
    }
  releases.push_back(latest);
}

}  // namespace

// What comes before the fence is of another segment than what follows it, which a later mark does not publish.
void Machine::fence(Fence scope) {
  Thread& me = thread();
  me.segment = me.fenced = next_segment++;
  hot.stamp = first_of(me.segment) | thread_ << 1;
  if (scope == Fence::DEVICE) me.fenced_far = me.fenced;
  for (const Release& release : me.seen)
    if (scope == Fence::DEVICE || release.block == block_->number) learn(release);
  if (scope == Fence::DEVICE) me.seen.clear();
}

// Publishes the accesses before the thread's fence to threads that read its flag at this address.
void Machine::publish(uintptr_t address) {
  const Thread& me = thread();
  if (me.fenced) keep(published_[address], {block_->number, thread_, me.floor, me.fenced, me.fenced_far});
}

void Machine::acquire(uintptr_t address, bool at_once) {
  if (published_.empty()) return;
  auto found = published_.find(address);
  if (found == published_.end()) return;
  for (const Release& release : found->second) at_once ? learn(release) : keep(thread().seen, release);
}

void Machine::learn(const Release& release) {
  if (release.block == block_->number) {
    Thread& me = thread();
    me.floor = std::max(me.floor, release.upto);
    if (!interleaved_) hot.floor = first_of(me.floor);
    return;
  }
  if (!release.upto_far) return;
  Release& known = block_->acquired.emplace(release.block, Release{release.block, release.thread, 0, 0}).first->second;
  known.floor = std::max(known.floor, release.floor);
  if (known.upto < release.upto_far) known.thread = release.thread, known.upto = release.upto_far;
}

void fence(Fence scope) {
  if (Machine::current().in_kernel()) Machine::current().fence(scope);
}

}  // namespace warpwright::emulated
