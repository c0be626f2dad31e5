#include "endless.h"

#include <cstring>

namespace warpwright::emulated {

bool Proof::memory_changed(uint64_t progress) const {
  if (progress != progress_) return true;
  return last_.bytes && std::memcmp(before_.data(), reinterpret_cast<const void*>(last_.address), last_.bytes) != 0;
}

Proof::Answer Proof::look(const Glimpse& glimpse, std::string stack, uint64_t progress) {
  if (glimpse.awaits || memory_changed(progress)) seen_.clear();
  progress_ = progress;
  last_ = glimpse;
  before_.assign(reinterpret_cast<const char*>(glimpse.address), glimpse.bytes);
  std::string& earlier = seen_[glimpse.site];
  if (earlier == stack) return Answer::ENDLESS;
  earlier = std::move(stack);
  return --left_ > 0 ? Answer::NOT_YET : Answer::GIVEN_UP;
}

}  // namespace warpwright::emulated
