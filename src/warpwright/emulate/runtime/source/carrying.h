// The execution of one call.
#ifndef WARPWRIGHT_EMULATE_CARRYING_H
#define WARPWRIGHT_EMULATE_CARRYING_H

#include <iosfwd>
#include <string>

#include "library.h"
#include "machine.h"

namespace warpwright::emulated {

// The numbers that floats stand for, file to memory and back. Only lifted programs have these functions.
__attribute__((weak)) void load_numbers(const std::string& file, int64_t at, void* memory, size_t bytes,
                                        const std::string& dtype);
__attribute__((weak)) int64_t write_numbers(std::ostream& out, const void* memory, size_t bytes,
                                            const std::string& dtype);
__attribute__((weak)) void seed_names(int64_t seed);

// What the host code of this call has launched, in its order.
extern std::vector<Launch> attached;

class Carrying {
 public:
  Carrying(const Json& request, const Object& trace) : request_(request), trace_(trace), machine_(Machine::current()) {}
  Json report();

 private:
  const Json& member(const char* name) const;
  void make_memory();
  void load(const Json& buffer, Region& region);
  void carry_out();
  void carry_out(const Json& node);
  void upload(const Json& node);
  void launch(const Json& node);
  Object since(const Object& before) const;
  void refuse(const Launch& wanted, const char* why);
  bool fits_clusters(const Launch& wanted) const;
  void library(const Json& node);
  bool given_by_torch(const Json& node);
  void ask_torch(const Json& node);
  void free_until(int64_t node);
  bool may_share(const Json& node) const;
  void symbols_in();
  void symbols_out();
  Region& region(int64_t buffer) { return *regions_.at(static_cast<size_t>(buffer)); }
  View view(const Json& of) { return View(of, region(of.at("buffer").whole())); }
  unsigned char* bytes_at(int64_t buffer, int64_t offset, int64_t bytes);
  void written(int64_t buffer, int64_t offset, int64_t bytes);
  void check_outputs(const Json& value);
  void check_output(const Json& view);
  Array contents();
  Json sampling() const;
  void mark_returned(const Json& value, std::vector<bool>& wanted);

  const Json& request_;
  const Object& trace_;
  Machine& machine_;
  std::vector<Region*> regions_;
  std::vector<std::string> dtypes_;  // of the numbers in each buffer; empty where none are wanted
  std::vector<std::vector<unsigned char>> symbol_images_;
  size_t next_launch_ = 0;
  int64_t node_ = 0;
  Json awaited_;
  Array launches_;
  bool worked_ = false;
  std::optional<bool> owes_;  // whether what it returns has elements; nothing where it returns nothing
};

}  // namespace warpwright::emulated

#endif
