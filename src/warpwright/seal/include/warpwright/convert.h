// Conversion between Value and the types host functions are written with, by the rules of pybind11.
#ifndef WARPWRIGHT_CONVERT_H
#define WARPWRIGHT_CONVERT_H

#include "warpwright/value.h"

namespace warpwright {

// Convert<T>: NAME for messages; Held, what keeps the argument alive during the call; from() and pass().
template <class T, class = void>
struct Convert {
  static_assert(sizeof(T) == 0, "warpwright unsupported: parameter or return type of a bound function");
};

template <class T>
struct Plain {
  using Held = T;
  static T& pass(Held& held) { return held; }
};

template <class T>
const T& expect(const Value& value, const char* wanted) {
  if (const T* found = value.as<T>()) return *found;
  throw Mismatch{wanted};
}

template <>
struct Convert<at::Tensor> : Plain<at::Tensor> {
  static std::string name() { return "tensor"; }
  static at::Tensor from(const Value& value) { return expect<at::Tensor>(value, "tensor"); }
  static Value to(const at::Tensor& tensor) { return tensor.defined() ? Value{tensor} : Value{}; }
};

template <>
struct Convert<bool> : Plain<bool> {
  static std::string name() { return "bool"; }
  static bool from(const Value& value) {
    if (auto whole = value.as<int64_t>()) return *whole != 0;
    return expect<bool>(value, "bool");
  }
  static Value to(bool value) { return {value}; }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_integral<T>::value>> : Plain<T> {
  static std::string name() { return "int"; }
  static T from(const Value& value) {
    if (auto truth = value.as<bool>()) return static_cast<T>(*truth);
    int64_t whole = expect<int64_t>(value, "int");
    if (static_cast<int64_t>(static_cast<T>(whole)) != whole) throw Mismatch{"int of " + std::to_string(8 * sizeof(T)) + " bits"};
    return static_cast<T>(whole);
  }
  static Value to(T value) { return {static_cast<int64_t>(value)}; }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point<T>::value>> : Plain<T> {
  static std::string name() { return "float"; }
  static T from(const Value& value) {
    if (auto whole = value.as<int64_t>()) return static_cast<T>(*whole);
    if (auto truth = value.as<bool>()) return static_cast<T>(*truth);
    return static_cast<T>(expect<double>(value, "float"));
  }
  static Value to(T value) { return {static_cast<double>(value)}; }
};

template <>
struct Convert<at::Scalar> : Plain<at::Scalar> {
  static std::string name() { return "number"; }
  static at::Scalar from(const Value& value) {
    if (auto whole = value.as<int64_t>()) return *whole;
    if (auto truth = value.as<bool>()) return *truth;
    return expect<double>(value, "number");
  }
  static Value to(const at::Scalar& value) {
    return value.isFloatingPoint() ? Value{value.toDouble()} : value.isBoolean() ? Value{value.toBool()} : Value{value.toLong()};
  }
};

template <>
struct Convert<std::string> : Plain<std::string> {
  static std::string name() { return "string"; }
  static std::string from(const Value& value) { return expect<std::string>(value, "string"); }
  static Value to(std::string text) { return {std::move(text)}; }
};
template <>
struct Convert<std::string_view> : Convert<std::string> {
  static std::string_view pass(std::string& held) { return held; }
};
template <>
struct Convert<const char*> : Convert<std::string> {
  static const char* pass(std::string& held) { return held.c_str(); }
};

template <>
struct Convert<c10::ScalarType> : Plain<c10::ScalarType> {
  static std::string name() { return "dtype"; }
  static c10::ScalarType from(const Value& value) { return expect<c10::ScalarType>(value, "dtype"); }
  static Value to(c10::ScalarType type) { return {type}; }
};

template <>
struct Convert<c10::Device> : Plain<c10::Device> {
  static std::string name() { return "device"; }
  static c10::Device from(const Value& value) { return c10::Device(expect<std::string>(value, "device")); }
  static Value to(c10::Device device) { return {device.str()}; }
};

template <class T>
struct Convert<std::optional<T>> {
  using Held = std::optional<typename Convert<T>::Held>;
  static std::string name() { return "optional " + Convert<T>::name(); }
  static Held from(const Value& value) { return value.is_none() ? Held() : Held(Convert<T>::from(value)); }
  static std::optional<T> pass(Held& held) {
    return held ? std::optional<T>(Convert<T>::pass(*held)) : std::optional<T>();
  }
  static Value to(const std::optional<T>& value) { return value ? Convert<T>::to(*value) : Value{}; }
};

inline const Values& items_of(const Value& value, const std::string& wanted) {
  if (auto tuple = value.as<Tuple>()) return tuple->items;
  if (auto list = value.as<Values>()) return *list;
  throw Mismatch{wanted};
}

template <class T>
struct Convert<std::vector<T>> : Plain<std::vector<T>> {
  static std::string name() { return "list of " + Convert<T>::name(); }
  static std::vector<T> from(const Value& value) {
    std::vector<T> list;
    for (const Value& item : items_of(value, name())) {
      auto held = Convert<T>::from(item);
      list.push_back(Convert<T>::pass(held));
    }
    return list;
  }
  static Value to(const std::vector<T>& list) {
    Values items;
    for (const auto& item : list) items.push_back(Convert<T>::to(item));
    return {items};
  }
};

// IntArrayRef takes a single int too, as torch's own binding does.
template <class T>
struct Convert<c10::ArrayRef<T>> {
  using Held = std::vector<T>;
  static std::string name() { return Convert<std::vector<T>>::name(); }
  static Held from(const Value& value) {
    return value.as<T>() ? Held{*value.as<T>()} : Convert<std::vector<T>>::from(value);
  }
  static c10::ArrayRef<T> pass(Held& held) { return held; }
  static Value to(c10::ArrayRef<T> list) { return Convert<std::vector<T>>::to(list.vec()); }
};
template <class T>
struct Convert<c10::OptionalArrayRef<T>> {
  using Held = std::optional<std::vector<T>>;
  static std::string name() { return "optional " + Convert<std::vector<T>>::name(); }
  static Held from(const Value& value) { return Convert<std::optional<std::vector<T>>>::from(value); }
  static c10::OptionalArrayRef<T> pass(Held& held) {
    return held ? c10::OptionalArrayRef<T>(*held) : c10::OptionalArrayRef<T>();
  }
};

template <class T, size_t N>
struct Convert<std::array<T, N>> : Plain<std::array<T, N>> {
  static std::string name() { return std::to_string(N) + " of " + Convert<T>::name(); }
  static std::array<T, N> from(const Value& value) {
    auto list = Convert<std::vector<T>>::from(value);
    if (list.size() != N) throw Mismatch{name()};
    std::array<T, N> array;
    std::copy(list.begin(), list.end(), array.begin());
    return array;
  }
  static Value to(const std::array<T, N>& array) {
    return Convert<std::vector<T>>::to(std::vector<T>(array.begin(), array.end()));
  }
};

template <class... T>
struct Convert<std::tuple<T...>> : Plain<std::tuple<T...>> {
  static std::string name() { return "tuple of " + std::to_string(sizeof...(T)); }
  static std::tuple<T...> from(const Value& value) {
    const Values& items = items_of(value, name());
    if (items.size() != sizeof...(T)) throw Mismatch{name()};
    size_t i = 0;
    return std::tuple<T...>{Convert<T>::from(items[i++])...};
  }
  static Value to(const std::tuple<T...>& tuple) {
    return std::apply([](const T&... items) { return Value{Tuple{{Convert<T>::to(items)...}}}; }, tuple);
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> : Plain<std::pair<A, B>> {
  static std::string name() { return "pair"; }
  static std::pair<A, B> from(const Value& value) {
    auto [first, second] = Convert<std::tuple<A, B>>::from(value);
    return {first, second};
  }
  static Value to(const std::pair<A, B>& pair) { return Convert<std::tuple<A, B>>::to({pair.first, pair.second}); }
};

template <class T>
struct Convert<std::map<std::string, T>> {
  static Value to(const std::map<std::string, T>& map) {
    Dictionary dictionary;
    for (const auto& [key, item] : map) dictionary.items.emplace_back(key, Convert<T>::to(item));
    return {dictionary};
  }
};
template <class T>
struct Convert<std::unordered_map<std::string, T>> {
  static Value to(const std::unordered_map<std::string, T>& map) {
    return Convert<std::map<std::string, T>>::to({map.begin(), map.end()});
  }
};

template <>
struct Convert<Value> : Plain<Value> {
  static std::string name() { return "object"; }
  static Value from(const Value& value) { return value; }
  static Value to(const Value& value) { return value; }
};

// A host function of any spelling as an entry.
template <class P>
using Conversion = Convert<std::decay_t<P>>;

template <class R, class F, class... P, size_t... I>
Value call_with(F& function, const Values& arguments, std::index_sequence<I...>) {
  [[maybe_unused]] size_t position = 0;
  auto convert = [&](auto* type, const Value& value) {
    using C = std::remove_pointer_t<decltype(type)>;
    ++position;
    try {
      return C::from(value);
    } catch (const Mismatch& mismatch) {
      throw Mismatch{"argument " + std::to_string(position) + " must be " + mismatch.wanted + ", not " + kind_of(value)};
    }
  };
  std::tuple<typename Conversion<P>::Held...> held{
      convert(static_cast<Conversion<P>*>(nullptr), arguments[I])...};
  if constexpr (std::is_void<R>::value) {
    function(static_cast<P>(Conversion<P>::pass(std::get<I>(held)))...);
    return Value{};
  } else {
    return Conversion<R>::to(function(static_cast<P>(Conversion<P>::pass(std::get<I>(held)))...));
  }
}

template <class F, class R, class... P>
Entry entry_of(F function, R (*)(P...)) {
  Entry entry;
  entry.parameters = {Parameter{Conversion<P>::name(), "", std::nullopt}...};
  entry.call = [function](const Values& arguments) mutable {
    return call_with<R, F, P...>(function, arguments, std::index_sequence_for<P...>());
  };
  return entry;
}

template <class R, class... P>
Entry make_entry(R (*function)(P...)) { return entry_of(function, function); }

template <class F, class R, class... P>
Entry make_callable_entry(F function, R (F::*)(P...) const) {
  return entry_of(function, static_cast<R (*)(P...)>(nullptr));
}
template <class F, class R, class... P>
Entry make_callable_entry(F function, R (F::*)(P...)) {
  return entry_of(function, static_cast<R (*)(P...)>(nullptr));
}
template <class F>
auto make_entry(F function) -> decltype(make_callable_entry(function, &F::operator())) {
  return make_callable_entry(function, &F::operator());
}

}  // namespace warpwright

#endif
