// Clusters: blocks that run together, synchronise and access each other's shared memory.
#include <map>

#include "machine.h"

namespace warpwright::emulated {

unsigned Machine::cluster_of(unsigned number) const {
  const uint3 at = block_index(number);
  const dim3 &size = launch->cluster, &grid = launch->grid;
  return (at.z / size.z * (grid.y / size.y) + at.y / size.y) * (grid.x / size.x) + at.x / size.x;
}

unsigned Machine::rank_in_cluster(unsigned number) const {
  const uint3 at = block_index(number);
  const dim3& size = launch->cluster;
  return (at.z % size.z * size.y + at.y % size.y) * size.x + at.x % size.x;
}

unsigned Machine::cluster_rank() const { return rank_in_cluster(block_->number); }

// One cluster after another, whole: a sample that has a block of a cluster has all of them.
void Machine::run_clusters(const std::vector<unsigned>& numbers) {
  std::map<unsigned, std::vector<unsigned>> blocks_of;
  if (numbers.empty()) return;
  for (unsigned i = 0; i < volume(launch->grid); ++i) blocks_of[cluster_of(i)].push_back(i);
  for (unsigned number : numbers) {
    auto found = blocks_of.find(cluster_of(number));
    if (found == blocks_of.end()) continue;
    std::vector<std::unique_ptr<Block>> members;
    cluster_.assign(found->second.size(), nullptr);
    for (unsigned block : found->second) {
      members.push_back(start(block));
      cluster_[rank_in_cluster(block)] = members.back().get();
    }
    blocks_of.erase(found);
    run_cluster(members);
    if (ended()) return;
    for (auto& block : members) block->shared->live = true, finish(std::move(block));
  }
}

void Machine::run_cluster(std::vector<std::unique_ptr<Block>>& members) {
  for (size_t done = 0; done < members.size() && !ended();) {
    const uint64_t before = changes();
    bool all_wait = true;
    for (auto& block : members) {
      if (block->live == 0) continue;
      const Result result = proceed(*block);
      if (ended()) return;
      all_wait &= result != Result::STUCK;
      if (result != Result::FINISHED) continue;
      // Later reads are reads of the shared memory of an exited block.
      block->shared->live = false;
      ++done, ++progress;
    }
    if (done == members.size()) return;
    all_wait ? release_cluster(members) : judge_standstill(members, before);
  }
}

void Machine::release_cluster(std::vector<std::unique_ptr<Block>>& members) {
  const Segment now = cluster_floor_ = next_segment;
  ++counters.barriers, ++progress;
  for (auto& block : members) {
    const Segment mine = next_segment++;
    owners_.emplace_back(mine, block->number);
    for (Thread& thread : block->threads)
      if (thread.state == State::GRID) thread.state = State::READY, thread.segment = thread.floor = mine;
    for (auto& other : members)
      if (other != block) block->acquired[other->number] = Release{other->number, 0, now, now};
  }
}

void* Machine::in_cluster(const void* mine, unsigned rank) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(mine) - block_->shared->base;
  if (offset >= SHARED_BYTES || rank >= cluster_.size()) unsupported("map_shared_rank of something else");
  Block& other = *cluster_[rank];
  for (const SharedVariable& variable : variables_)
    if (variable.offset >= other.shared_used) lay_out(other, variable.offset, variable.bytes);
  return reinterpret_cast<void*>(other.shared->base + offset);
}

// What kernels call.

void cluster_barrier(int line) {
  Machine& machine = Machine::current();
  if (!machine.clustered()) return void(barrier(line));  // a block alone is a cluster of one
  machine.thread().waiting.line = line;
  machine.thread().waiting.site = site_of(__builtin_return_address(0));
  machine.wait(State::GRID);
}

unsigned cluster_rank() { return Machine::current().clustered() ? Machine::current().cluster_rank() : 0; }

unsigned cluster_blocks() {
  const Machine& machine = Machine::current();
  return static_cast<unsigned>(volume(machine.launch->cluster));
}

void* in_cluster(const void* mine, unsigned rank) {
  Machine& machine = Machine::current();
  return machine.clustered() ? machine.in_cluster(mine, rank) : const_cast<void*>(mine);
}

}  // namespace warpwright::emulated
