// JSON as a value: requests are read into it, traces are written from it.
#ifndef WARPWRIGHT_RECORDER_JSON_H
#define WARPWRIGHT_RECORDER_JSON_H

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace warpwright {

class Json;
using Array = std::vector<Json>;
using Object = std::vector<std::pair<std::string, Json>>;

class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : held_(value) {}
  Json(int value) : held_(static_cast<int64_t>(value)) {}
  Json(unsigned value) : held_(static_cast<int64_t>(value)) {}
  Json(int64_t value) : held_(value) {}
  Json(uint64_t value) : held_(static_cast<int64_t>(value)) {}
  Json(double value) : held_(value) {}
  Json(const char* text) : held_(std::string(text)) {}
  Json(std::string text) : held_(std::move(text)) {}
  Json(Array items) : held_(std::move(items)) {}
  Json(Object members) : held_(std::move(members)) {}
  static Json list(const int64_t* numbers, size_t count) { return Array(numbers, numbers + count); }

  static Json parse(const std::string& text);
  std::string text() const;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&held_);
  }
  bool is_null() const { return held_.index() == 0; }
  const Json* find(const std::string& key) const;
  const Json& at(const std::string& key) const;
  int64_t whole() const;
  double real() const;
  const std::string& string() const;
  const Array& array() const;
  std::vector<int64_t> wholes() const;

 private:
  void write(std::string& out) const;
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object> held_ = nullptr;
};

}  // namespace warpwright

#endif
