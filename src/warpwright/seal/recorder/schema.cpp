// Reads torch schemas: the name of an operation, the names of its parameters, and their defaults.
#include "binding.h"

namespace warpwright {
namespace {

std::string trimmed(const std::string& text) {
  size_t from = text.find_first_not_of(" \t\n"), to = text.find_last_not_of(" \t\n");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

// Splits at commas outside of brackets.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> list;
  int depth = 0;
  std::string piece;
  for (char c : text) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == ',' && depth == 0) list.push_back(std::exchange(piece, ""));
    else piece += c;
  }
  if (!trimmed(piece).empty()) list.push_back(piece);
  return list;
}

Value literal(const std::string& text) {
  if (text == "None") return {};
  if (text == "True" || text == "False") return text == "True";
  if (text[0] == '[') {
    Value items = Value::list();
    for (const std::string& piece : pieces(text.substr(1, text.size() - 2))) items.append(literal(trimmed(piece)));
    return items;
  }
  if (text[0] == '"' || text[0] == '\'') return text.substr(1, text.size() - 2);
  if (text.find_first_of(".e") != std::string::npos) return std::strtod(text.c_str(), nullptr);
  return static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
}

Parameter parameter(const std::string& text) {
  size_t equals = text.find('=');
  std::string declared = trimmed(text.substr(0, equals));
  Parameter result;
  result.type = trimmed(declared.substr(0, declared.rfind(' ')));
  result.name = declared.substr(declared.rfind(' ') + 1);
  if (equals != std::string::npos) result.fallback = literal(trimmed(text.substr(equals + 1)));
  return result;
}

}  // namespace

std::string schema_name(const std::string& schema) {
  std::string name = trimmed(schema.substr(0, schema.find('(')));
  size_t space = name.rfind("::");
  return space == std::string::npos ? name : name.substr(space + 2);
}

std::vector<Parameter> schema_parameters(const std::string& schema) {
  size_t arrow = schema.rfind("->"), open = schema.find('(');
  size_t close = schema.rfind(')', arrow == std::string::npos ? arrow : arrow - 1);
  std::vector<Parameter> list;
  if (open == std::string::npos || close == std::string::npos || close < open) return list;
  for (const std::string& piece : pieces(schema.substr(open + 1, close - open - 1)))
    if (trimmed(piece) != "*") list.push_back(parameter(piece));
  return list;
}

}  // namespace warpwright
