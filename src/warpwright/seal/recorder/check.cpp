// Errors and their messages.
#include "warpwright/capture.h"

namespace c10 {

Error::Error(const char* message) : message_(strdup(message)) {}
Error::Error(const std::string& message) : Error(message.c_str()) {}
Error::Error(const Error& other) : Error(other.message_) {}
Error::~Error() { std::free(message_); }

namespace detail {

Word::Word(const char* text)
    : value_(text), print_([](std::ostream& out, const void* at) { out << static_cast<const char*>(at); }) {}
Word::Word(const std::string& text) : Word(text.c_str()) {}

std::string joined(Words words) {
  std::ostringstream out;
  for (const Word& word : words) word.print(out);
  return out.str();
}

void check_failed(Failure kind, const char* condition, Words words) {
  std::string message =
      words.size() ? joined(words) : std::string("Expected ") + condition + " to be true, but got false.";
  switch (kind) {
    case Failure::VALUE: throw ValueError(message);
    case Failure::TYPE: throw TypeError(message);
    case Failure::INDEX: throw IndexError(message);
    case Failure::NOT_IMPLEMENTED: throw NotImplementedError(message);
    default: throw Error(message);
  }
}

void warn(Words words) { std::cerr << "Warning: " << joined(words) << '\n'; }

}  // namespace detail
}  // namespace c10
