// Converts between Value and the parameter types of host functions, by the rules of pybind11.
#ifndef WARPWRIGHT_CONVERT_H
#define WARPWRIGHT_CONVERT_H

#include "warpwright/value.h"

namespace warpwright {

// Convert<T>: NAME for messages; Held, what keeps the argument alive during the call; from(), pass() and to().
template <class T, class = void>
struct Convert {
  static_assert(sizeof(T) == 0, "warpwright unsupported: parameter or return type of a bound function");
};

#define WARPWRIGHT_CONVERT(T, WORD, FROM)                     \
  template <>                                                 \
  struct Convert<T> {                                         \
    static constexpr TypeName NAME{WORD, nullptr};            \
    using Held = T;                                           \
    static T from(const Value& value) { return FROM(value); } \
    static T& pass(T& held) { return held; }                  \
    static Value to(const T& value) { return Value(value); }  \
  };
WARPWRIGHT_CONVERT(at::Tensor, "tensor", tensor_from)
WARPWRIGHT_CONVERT(bool, "bool", truth_from)
WARPWRIGHT_CONVERT(at::Scalar, "number", number_from)
WARPWRIGHT_CONVERT(std::string, "string", text_from)
WARPWRIGHT_CONVERT(c10::ScalarType, "dtype", dtype_from)
WARPWRIGHT_CONVERT(c10::Device, "device", device_from)
WARPWRIGHT_CONVERT(Value, "object", )
#undef WARPWRIGHT_CONVERT

template <class T>
struct Convert<T, std::enable_if_t<std::is_integral<T>::value>> {
  static constexpr TypeName NAME{"int", nullptr};
  using Held = T;
  static T from(const Value& value) {
    int64_t whole = whole_from(value);
    if (static_cast<int64_t>(static_cast<T>(whole)) != whole) mismatch("int that fits");
    return static_cast<T>(whole);
  }
  static T& pass(T& held) { return held; }
  static Value to(T value) { return Value(static_cast<int64_t>(value)); }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point<T>::value>> {
  static constexpr TypeName NAME{"float", nullptr};
  using Held = T;
  static T from(const Value& value) { return static_cast<T>(real_from(value)); }
  static T& pass(T& held) { return held; }
  static Value to(T value) { return Value(static_cast<double>(value)); }
};

template <>
struct Convert<std::string_view> : Convert<std::string> {
  static std::string_view pass(std::string& held) { return held; }
};
template <>
struct Convert<const char*> : Convert<std::string> {
  static const char* pass(std::string& held) { return held.c_str(); }
};

template <class T>
struct Convert<std::optional<T>> {
  static constexpr TypeName NAME{"optional", &Convert<T>::NAME};
  using Held = std::optional<typename Convert<T>::Held>;
  static Held from(const Value& value) { return value.is_none() ? Held() : Held(Convert<T>::from(value)); }
  static std::optional<T> pass(Held& held) {
    return held ? std::optional<T>(Convert<T>::pass(*held)) : std::optional<T>();
  }
  static Value to(const std::optional<T>& value) { return value ? Convert<T>::to(*value) : Value(); }
};

template <class T>
std::vector<T> items_from(const Value& value) {
  std::vector<T> list;
  for (size_t i = 0; i < value.size(); ++i) {
    auto held = Convert<T>::from(value.item(i));
    list.push_back(Convert<T>::pass(held));
  }
  return list;
}
template <>
inline std::vector<at::Tensor> items_from(const Value& value) {
  return tensors_from(value);
}
template <>
inline std::vector<int64_t> items_from(const Value& value) {
  return wholes_from(value);
}
template <>
inline std::vector<double> items_from(const Value& value) {
  return reals_from(value);
}

template <class L>
Value list_of(const L& items) {
  Value list = Value::list();
  for (const auto& item : items) list.append(Convert<std::decay_t<decltype(item)>>::to(item));
  return list;
}

template <class T>
struct Convert<std::vector<T>> {
  static constexpr TypeName NAME{"list of", &Convert<T>::NAME};
  using Held = std::vector<T>;
  static Held from(const Value& value) { return items_from<T>(value); }
  static Held& pass(Held& held) { return held; }
  static Value to(const std::vector<T>& list) { return list_of(list); }
};
template <class T>
struct Convert<c10::ArrayRef<T>> : Convert<std::vector<T>> {
  static c10::ArrayRef<T> pass(std::vector<T>& held) { return held; }
  static Value to(c10::ArrayRef<T> list) { return list_of(list); }
};
template <class T>
struct Convert<c10::OptionalArrayRef<T>> : Convert<std::optional<std::vector<T>>> {
  static c10::OptionalArrayRef<T> pass(std::optional<std::vector<T>>& held) {
    return held ? c10::OptionalArrayRef<T>(*held) : c10::OptionalArrayRef<T>();
  }
};
template <class T, size_t N>
struct Convert<std::array<T, N>> {
  static constexpr TypeName NAME{"array of", &Convert<T>::NAME};
  using Held = std::array<T, N>;
  static Held from(const Value& value) {
    if (value.size() != N) mismatch("list of the array's length");
    Held array;
    for (size_t i = 0; i < N; ++i) array[i] = Convert<T>::from(value.item(i));
    return array;
  }
  static Held& pass(Held& held) { return held; }
  static Value to(const Held& array) { return list_of(array); }
};

template <class... T>
struct Convert<std::tuple<T...>> {
  static constexpr TypeName NAME{"tuple", nullptr};
  using Held = std::tuple<T...>;
  static Held from(const Value& value) {
    if (value.size() != sizeof...(T)) mismatch("tuple of the right length");
    size_t i = 0;
    return Held{Convert<T>::from(value.item(i++))...};
  }
  static Held& pass(Held& held) { return held; }
  static Value to(const Held& tuple) {
    return std::apply([](const T&... items) { return tuple_of(Convert<T>::to(items)...); }, tuple);
  }
  template <class... V>
  static Value tuple_of(const V&... items) {
    Value tuple = Value::tuple();
    (tuple.append(items), ...);
    return tuple;
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> {
  static constexpr TypeName NAME{"pair", nullptr};
  using Held = std::pair<A, B>;
  static Held from(const Value& value) {
    auto [first, second] = Convert<std::tuple<A, B>>::from(value);
    return {first, second};
  }
  static Held& pass(Held& held) { return held; }
  static Value to(const Held& pair) { return Convert<std::tuple<A, B>>::to({pair.first, pair.second}); }
};

template <class M>
Value dictionary_of(const M& map) {
  Value dictionary = Value::dictionary();
  for (const auto& [key, item] : map) dictionary.set(key, Convert<std::decay_t<decltype(item)>>::to(item));
  return dictionary;
}
template <class T>
struct Convert<std::map<std::string, T>> {
  static Value to(const std::map<std::string, T>& map) { return dictionary_of(map); }
};
template <class T>
struct Convert<std::unordered_map<std::string, T>> {
  static Value to(const std::unordered_map<std::string, T>& map) { return dictionary_of(map); }
};

// An argument for the length of a call. References passed to the function point into it.
template <class P>
class Argument {
 public:
  using C = Convert<std::decay_t<P>>;
  explicit Argument(const Value& value) : held_(C::from(noted(value))) {}
  decltype(auto) pass() { return C::pass(held_); }

 private:
  typename C::Held held_;
};

template <class F, class R, class... P, size_t... I>
Value call_with(F& function, const Value* arguments, R (*)(P...), std::index_sequence<I...>) {
  if constexpr (std::is_void<R>::value) {
    function(static_cast<P>(Argument<P>(arguments[I]).pass())...);
    return Value();
  } else {
    return Convert<std::decay_t<R>>::to(function(static_cast<P>(Argument<P>(arguments[I]).pass())...));
  }
}

template <class F, class R, class... P>
Callable callable_of(F function, R (*)(P...)) {
  static const TypeName* const types[] = {&Convert<std::decay_t<P>>::NAME..., nullptr};
  auto call = [](void* at, const Value* arguments) {
    return call_with(*static_cast<F*>(at), arguments, static_cast<R (*)(P...)>(nullptr),
                     std::index_sequence_for<P...>());
  };
  return {call, new F(function), types, sizeof...(P)};
}

template <class R, class... P>
Callable make_callable(R (*function)(P...)) {
  return callable_of(function, function);
}
template <class F, class R, class... P>
Callable member_callable(F function, R (F::*)(P...) const) {
  return callable_of(function, static_cast<R (*)(P...)>(nullptr));
}
template <class F, class R, class... P>
Callable member_callable(F function, R (F::*)(P...)) {
  return callable_of(function, static_cast<R (*)(P...)>(nullptr));
}
template <class F>
auto make_callable(F function) -> decltype(member_callable(function, &F::operator())) {
  return member_callable(function, &F::operator());
}

}  // namespace warpwright

#endif
