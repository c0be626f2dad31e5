// Launches of a call: queued by the host code, refused or run, and counted.
#include <cstring>

#include "carrying.h"
#include "../../../seal/recorder/gpu.h"

namespace warpwright::emulated {

std::vector<Launch> attached;

namespace {

// Of the kernel that is being enqueued.
dim3 declared_clusters;
uint32_t declared_line = 0;

}  // namespace

void in_clusters(dim3 size) { declared_clusters = size; }
void called_at(int line) { declared_line = static_cast<uint32_t>(line); }

void attach(const char* kernel, Body body, const void* closure, size_t bytes, size_t alignment) {
  if (Machine::current().in_kernel()) unsupported("a kernel launched by a kernel");
  Launch launch;
  launch.kernel = kernel;
  launch.body = body;
  launch.cluster = declared_clusters;
  launch.line = declared_line;
  declared_clusters = dim3(), declared_line = 0;
  launch.closure.resize(bytes + alignment);
  launch.closure_offset = alignment - reinterpret_cast<uintptr_t>(launch.closure.data()) % alignment;
  std::memcpy(launch.closure.data() + launch.closure_offset, closure, bytes);
  attached.push_back(std::move(launch));
}

// More than the usual 48 KiB must have been asked for. The attribute of a kernel is kept by its first address.
bool Carrying::may_share(const Json& node) const {
  const int64_t wanted = node.at("shared").whole(), code = node.at("code").whole();
  if (wanted <= static_cast<int64_t>(described_gpu().sharedMemPerBlock)) return true;
  int64_t nearest = -1, granted = 0;
  for (const Json& attribute : member("attributes").array())
    if (attribute.at("name").string() == "max_dynamic_shared" && attribute.at("code").whole() <= code &&
        attribute.at("code").whole() >= nearest)
      nearest = attribute.at("code").whole(), granted = attribute.at("value").whole();
  return wanted <= granted;
}

// More blocks than fit everywhere must be asked for, and a GPU without clusters has none to give.
bool Carrying::fits_clusters(const Launch& wanted) const {
  const dim3 &size = wanted.cluster, &grid = wanted.grid;
  uint64_t most = static_cast<uint64_t>(portable_cluster_blocks());
  for (const Json& attribute : member("attributes").array())
    if (most > 1 && attribute.at("name").string() == "non_portable_cluster" && attribute.at("value").whole()) most = 16;
  const uint64_t blocks = static_cast<uint64_t>(size.x) * size.y * size.z;
  return blocks && blocks <= most && grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0;
}

void Carrying::refuse(const Launch& wanted, const char* why) {
  Finding finding;
  finding.kind = "launch";
  finding.kernel = wanted.kernel;
  finding.launch = wanted.number;
  finding.message = why;
  machine_.findings.add(std::move(finding));
}

void Carrying::launch(const Json& node) {
  Launch& wanted = attached.at(next_launch_);
  wanted.number = static_cast<int>(next_launch_++);
  auto extent = [&](const char* name) {
    std::vector<int64_t> d = node.at(name).wholes();
    return dim3(static_cast<unsigned>(d[0]), static_cast<unsigned>(d[1]), static_cast<unsigned>(d[2]));
  };
  const dim3 cluster = extent("cluster");
  if (cluster.x * cluster.y * cluster.z > 1) wanted.cluster = cluster;
  wanted.grid = extent("grid");
  wanted.block = extent("block");
  wanted.dynamic_shared = static_cast<size_t>(node.at("shared").whole());
  wanted.cooperative = *node.at("cooperative").as<bool>();
  if (!may_share(node))
    return refuse(wanted, "more than 48 KiB of dynamic shared memory without cudaFuncSetAttribute: the launch fails");
  if (!fits_clusters(wanted)) return refuse(wanted, "clusters that the grid is no multiple of, or that are too large");
  const Object before = machine_.counters.totals(machine_.settings.counters);
  const uint64_t blocks = machine_.counters.blocks, threads = machine_.counters.threads;
  const int64_t steps = hot.steps_left;
  symbols_in();
  machine_.run(wanted);
  symbols_out();
  launches_.push_back(Object{{"kernel", wanted.kernel},
                             {"code", node.at("code")},
                             {"grid", node.at("grid")},
                             {"block", node.at("block")},
                             {"shared", node.at("shared")},
                             {"static_shared", machine_.static_shared()},
                             {"blocks", machine_.counters.blocks - blocks},
                             {"threads", machine_.counters.threads - threads},
                             {"steps", steps - hot.steps_left},
                             {"counters", since(before)}});
}

// What this launch has added.
Object Carrying::since(const Object& before) const {
  Object added = machine_.counters.totals(machine_.settings.counters);
  for (size_t i = 0; i < added.size(); ++i) added[i].second = added[i].second.whole() - before[i].second.whole();
  return added;
}

}  // namespace warpwright::emulated
