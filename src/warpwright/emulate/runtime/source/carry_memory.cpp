// The memory of a call: inputs, copies, freed buffers, and device variables with a copy in a buffer.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "carrying.h"

extern "C" {
extern char __start_warpwright_device __attribute__((weak));
extern char __stop_warpwright_device __attribute__((weak));
extern const char __ehdr_start;
extern const char _end;
}

namespace warpwright::emulated {

void Carrying::make_memory() {
  const Array* given = request_.find("buffers") ? &request_.at("buffers").array() : nullptr;
  const Array& buffers = member("buffers").array();
  dtypes_.resize(buffers.size());
  if (const Json* emulation = request_.find("emulation"); emulation && seed_names)
    seed_names(emulation->at("seed").whole());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uintptr_t base = static_cast<uintptr_t>(buffers[i].at("base").whole());
    if (base - arena_at >= shared_area() - arena_at) throw std::runtime_error("a buffer lies outside the arena");
    Region& made = machine_.arena.add(base, static_cast<size_t>(buffers[i].at("bytes").whole()), Space::GLOBAL,
                                      static_cast<int>(i));
    regions_.push_back(&made);
    if (given && i < given->size()) load((*given)[i], made);
  }
  const uintptr_t start = reinterpret_cast<uintptr_t>(&__start_warpwright_device);
  hot.image = start ? 0 : reinterpret_cast<uintptr_t>(&__ehdr_start);
  hot.image_bytes = start ? 0 : static_cast<uintptr_t>(&_end - &__ehdr_start);
  if (!start) return;
  Region& variables =
      machine_.arena.add(start, reinterpret_cast<uintptr_t>(&__stop_warpwright_device) - start, Space::DEVICE, -1);
  variables.mark(variables.base, variables.bytes, BY_HOST);
}

void Carrying::load(const Json& buffer, Region& into) {
  const Json* data = buffer.find("data");
  if (!data || data->is_null()) return;
  const int64_t at = buffer.find("at") ? buffer.at("at").whole() : 0;
  const int file = open(data->string().c_str(), O_RDONLY | O_CLOEXEC);
  for (size_t done = 0; done < into.bytes;) {
    const ssize_t count =
        pread(file, reinterpret_cast<char*>(into.base) + done, into.bytes - done, at + static_cast<off_t>(done));
    if (count <= 0) throw std::runtime_error("the file of inputs is too short");
    done += static_cast<size_t>(count);
  }
  close(file);
  const Json* numbers = buffer.find("numbers");
  if (numbers && load_numbers) {
    dtypes_[static_cast<size_t>(into.buffer)] = buffer.at("dtype").string();
    load_numbers(numbers->string(), buffer.at("numbers_at").whole(), reinterpret_cast<void*>(into.base), into.bytes,
                 buffer.at("dtype").string());
  }
  into.mark(into.base, into.bytes, BY_HOST);
}

unsigned char* Carrying::bytes_at(int64_t buffer, int64_t offset, int64_t bytes) {
  Region& memory = region(buffer);
  if (offset < 0 || bytes < 0 || static_cast<uint64_t>(offset + bytes) > memory.bytes)
    throw std::runtime_error("a copy or fill beyond its buffer");
  return reinterpret_cast<unsigned char*>(memory.base) + offset;
}

void Carrying::written(int64_t buffer, int64_t offset, int64_t bytes) {
  Region& memory = region(buffer);
  // Parts of a word must not count for all of it.
  if (memory.shift && (memory.base + static_cast<uintptr_t>(offset) | static_cast<uintptr_t>(bytes)) & 3)
    memory.refine(0);
  memory.mark(memory.base + static_cast<uintptr_t>(offset), static_cast<size_t>(bytes), BY_HOST);
}

void Carrying::upload(const Json& node) {
  const int64_t buffer = node.at("buffer").whole(), offset = node.at("offset").whole();
  const std::string& text = node.at("data").string();
  const size_t bytes = text.size() / 2;
  unsigned char* target = bytes_at(buffer, offset, static_cast<int64_t>(bytes));
  for (size_t i = 0; i < bytes; ++i)
    target[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  written(buffer, offset, static_cast<int64_t>(bytes));
  const Json& symbol = member("buffers").array().at(static_cast<size_t>(buffer)).at("symbol");
  if (!symbol.is_null()) std::memcpy(const_cast<char*>(&__ehdr_start) + symbol.whole() + offset, target, bytes);
}

void Carrying::free_until(int64_t node) {
  const Array& buffers = member("buffers").array();
  for (size_t i = 0; i < buffers.size(); ++i)
    if (const Json& freed = buffers[i].at("freed"); !freed.is_null() && freed.whole() <= node)
      regions_[i]->live = false;
}

// A device variable whose address the host code requested exists in the program and in a buffer, kept equal.
void Carrying::symbols_in() {
  const Array& buffers = member("buffers").array();
  symbol_images_.assign(buffers.size(), {});
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].at("symbol").is_null()) continue;
    const char* variable = &__ehdr_start + buffers[i].at("symbol").whole();
    std::memcpy(reinterpret_cast<void*>(regions_[i]->base), variable, regions_[i]->bytes);
    regions_[i]->mark(regions_[i]->base, regions_[i]->bytes, BY_HOST);
    symbol_images_[i].assign(variable, variable + regions_[i]->bytes);
  }
}

void Carrying::symbols_out() {
  const Array& buffers = member("buffers").array();
  for (size_t i = 0; i < symbol_images_.size(); ++i) {
    if (symbol_images_[i].empty()) continue;
    const void* memory = reinterpret_cast<void*>(regions_[i]->base);
    char* variable = const_cast<char*>(&__ehdr_start) + buffers[i].at("symbol").whole();
    if (std::memcmp(memory, symbol_images_[i].data(), regions_[i]->bytes) != 0)
      std::memcpy(variable, memory, regions_[i]->bytes);
  }
}

}  // namespace warpwright::emulated
