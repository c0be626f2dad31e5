#include "json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace warpwright {
namespace {

// Requests come from our own Python code and nest a few levels; the reader checks only what it needs.
class Reader {
 public:
  explicit Reader(const std::string& text) : at_(text.c_str()) {}

  Json whole_document() {
    Json value = read();
    skip();
    if (*at_) fail("nothing more");
    return value;
  }

 private:
  [[noreturn]] void fail(const char* wanted) {
    throw std::runtime_error(std::string("bad request: expected ") + wanted);
  }
  void skip() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') ++at_;
  }
  bool take(char c) {
    skip();
    return *at_ == c ? ++at_, true : false;
  }
  bool take_word(const char* word) {
    size_t length = std::strlen(word);
    return std::strncmp(at_, word, length) == 0 ? at_ += length, true : false;
  }

  Json read() {
    skip();
    switch (*at_) {
      case '{': return object();
      case '[': return array();
      case '"': return string();
      case 't': return take_word("true") ? Json(true) : (fail("true"), Json());
      case 'f': return take_word("false") ? Json(false) : (fail("false"), Json());
      case 'n': return take_word("null") ? Json() : (fail("null"), Json());
      default: return number();
    }
  }
  Json object() {
    Object members;
    ++at_;
    if (take('}')) return members;
    do {
      skip();
      std::string key = string();
      if (!take(':')) fail("':'");
      members.emplace_back(std::move(key), read());
    } while (take(','));
    if (!take('}')) fail("'}'");
    return members;
  }
  Json array() {
    Array items;
    ++at_;
    if (take(']')) return items;
    do items.push_back(read());
    while (take(','));
    if (!take(']')) fail("']'");
    return items;
  }
  std::string string() {
    if (*at_ != '"') fail("a string");
    std::string text;
    for (++at_; *at_ != '"'; ++at_) {
      if (!*at_) fail("the end of a string");
      text += *at_ == '\\' ? escaped() : *at_;
    }
    ++at_;
    return text;
  }
  char escaped() {
    switch (*++at_) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case 'u': {
        long code = std::strtol(std::string(at_ + 1, 4).c_str(), nullptr, 16);
        at_ += 4;
        return code < 128 ? static_cast<char>(code) : '?';
      }
      default: return *at_;
    }
  }
  Json number() {
    char* end = nullptr;
    double real = std::strtod(at_, &end);
    if (end == at_) fail("a value");
    std::string digits(at_, static_cast<const char*>(end));
    at_ = end;
    if (digits.find_first_of(".eEnN") != std::string::npos) return real;
    return static_cast<int64_t>(std::strtoll(digits.c_str(), nullptr, 10));
  }

  const char* at_;
};

// Candidates choose some of these bytes, which need not be UTF-8: only ASCII is written unescaped.
void write_string(std::string& out, const std::string& text) {
  out += '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += static_cast<char>(c);
    } else if (c < 0x20 || c >= 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += static_cast<char>(c);
    }
  }
  out += '"';
}

void write_real(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "Infinity" : "-Infinity";
  } else {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    out += digits;
    if (out.find_first_of(".e", out.size() - std::strlen(digits)) == std::string::npos) out += ".0";
  }
}

}  // namespace

Json Json::parse(const std::string& text) { return Reader(text).whole_document(); }

std::string Json::text() const {
  std::string out;
  write(out);
  return out;
}

void Json::write(std::string& out) const {
  if (is_null()) out += "null";
  if (auto truth = as<bool>()) out += *truth ? "true" : "false";
  if (auto whole = as<int64_t>()) out += std::to_string(*whole);
  if (auto real = as<double>()) write_real(out, *real);
  if (auto string = as<std::string>()) write_string(out, *string);
  if (auto items = as<Array>()) {
    out += '[';
    for (size_t i = 0; i < items->size(); ++i) {
      if (i) out += ", ";
      (*items)[i].write(out);
    }
    out += ']';
  }
  if (auto members = as<Object>()) {
    out += '{';
    for (size_t i = 0; i < members->size(); ++i) {
      if (i) out += ", ";
      write_string(out, (*members)[i].first);
      out += ": ";
      (*members)[i].second.write(out);
    }
    out += '}';
  }
}

const Json* Json::find(const std::string& key) const {
  if (auto members = as<Object>())
    for (const auto& [name, value] : *members)
      if (name == key) return &value;
  return nullptr;
}
const Json& Json::at(const std::string& key) const {
  if (const Json* found = find(key)) return *found;
  throw std::runtime_error("bad request: no \"" + key + "\"");
}
int64_t Json::whole() const {
  if (auto value = as<int64_t>()) return *value;
  throw std::runtime_error("bad request: expected an integer");
}
double Json::real() const {
  if (auto value = as<double>()) return *value;
  return static_cast<double>(whole());
}
const std::string& Json::string() const {
  if (auto value = as<std::string>()) return *value;
  throw std::runtime_error("bad request: expected a string");
}
const Array& Json::array() const {
  if (auto value = as<Array>()) return *value;
  throw std::runtime_error("bad request: expected a list");
}
std::vector<int64_t> Json::wholes() const {
  std::vector<int64_t> numbers;
  for (const Json& item : array()) numbers.push_back(item.whole());
  return numbers;
}

}  // namespace warpwright
