// Comparisons and selections.
#include <cmath>

#include "tests/random/forms.h"
#include "tests/random/numbers.h"

namespace roofwalk::random {
namespace {

// The order of two numbers.
enum class Order { less, equal, greater, unordered };

bool holds(const std::string& compare, Order order) {
  const bool nan = order == Order::unordered;
  if (compare == "num") return !nan;
  if (compare == "nan") return nan;
  const bool also_nan = compare.size() == 3;  // equ, ltu and so on are also true for NaN
  if (nan) return also_nan;
  const std::string plain = compare.substr(0, 2);
  if (plain == "eq") return order == Order::equal;
  if (plain == "ne") return order != Order::equal;
  if (plain == "lt" || plain == "lo") return order == Order::less;
  if (plain == "le" || plain == "ls") return order != Order::greater;
  if (plain == "gt" || plain == "hi") return order == Order::greater;
  return order != Order::less;  // ge, hs
}

template <class T>
Order order_of(T a, T b) {
  return a < b ? Order::less : a > b ? Order::greater : a == b ? Order::equal : Order::unordered;
}

struct Compared {
  std::string type;
  Kind kind;
  std::vector<std::string> compares;
  bool pair = false;
  std::function<Order(Bits a, Bits b)> order;  // for pairs: the order of the low halves
  bool numbers = true;
};

std::vector<Compared> compared_types() {
  const std::vector<std::string> equality{"eq", "ne"}, ordered{"eq", "ne", "lt", "le", "gt", "ge"};
  std::vector<std::string> any = ordered;
  any.insert(any.end(), {"lo", "ls", "hi", "hs"});
  std::vector<std::string> floats = ordered;
  floats.insert(floats.end(), {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  std::vector<Compared> out;
  for (const IntegerType& type : {kU16, kS16, kU32, kS32, kU64, kS64}) {
    const Kind kind = type.bits == 16 ? Kind::b16 : type.bits == 32 ? Kind::b32 : Kind::b64;
    const auto order = [type](Bits a, Bits b) { return order_of(value_of(a, type), value_of(b, type)); };
    out.push_back({type.name, kind, type.is_signed ? ordered : any, false, order});
    if (!type.is_signed) out.push_back({"b" + std::to_string(type.bits), kind, equality, false, order});
  }
  const auto half = [](Bits a, Bits b) { return order_of(decode(a & 0xffff, kHalf), decode(b & 0xffff, kHalf)); };
  const auto brain = [](Bits a, Bits b) { return order_of(decode(a & 0xffff, kBrain), decode(b & 0xffff, kBrain)); };
  out.push_back({"f16", Kind::b16, floats, false, half, false});
  out.push_back({"bf16", Kind::b16, floats, false, brain, false});
  out.push_back({"f16x2", Kind::b32, floats, true, half, false});
  out.push_back({"bf16x2", Kind::b32, floats, true, brain, false});
  out.push_back({"f32", Kind::b32, floats, false, [](Bits a, Bits b) { return order_of(as<float>(a), as<float>(b)); }});
  out.push_back({"ftz.f32", Kind::b32, floats, false,
                 [](Bits a, Bits b) { return order_of(flushed(as<float>(a)), flushed(as<float>(b))); }});
  out.push_back(
      {"f64", Kind::b64, floats, false, [](Bits a, Bits b) { return order_of(as<double>(a), as<double>(b)); }});
  return out;
}

bool joined(const std::string& operation, bool a, bool b) {
  return operation == "and" ? a && b : operation == "or" ? a || b : operation == "xor" ? a != b : a;
}

void add_setp(std::vector<Form>& out, const Compared& of, const std::string& compare, const std::string& operation,
              bool two_results) {
  Form form;
  form.mnemonic = "setp";
  form.text = "setp." + compare + (operation.empty() ? "" : "." + operation) + "." + of.type;
  form.results.assign(two_results ? 2 : 1, Kind::pred);
  form.sources = {of.kind, of.kind};
  const std::string number = !of.numbers ? "" : of.type == "ftz.f32" ? "f32" : of.type;
  form.numbers = {number, number};
  if (!operation.empty()) {
    form.sources.push_back(Kind::pred);
    form.numbers.push_back("");
    form.negatable_predicate = true;
  }
  if (two_results) form.look = Form::Look::two_predicates;
  form.apply = [of, compare, operation, two_results](const Bits* s, Bits* r) {
    const bool first = holds(compare, of.order(s[0], s[1]));
    const bool second = of.pair ? holds(compare, of.order(s[0] >> 16, s[1] >> 16)) : !first;
    r[0] = joined(operation, first, s[2] != 0);
    if (two_results) r[1] = joined(operation, second, s[2] != 0);
  };
  form.makes_addresses = of.numbers && of.type[0] != 'f' && bits_of(of.kind) >= 32;
  out.push_back(std::move(form));
}

void add_set(std::vector<Form>& out, const Compared& of, const std::string& compare, const std::string& result,
             Kind kind, Bits truth) {
  Form form;
  form.mnemonic = "set";
  form.text = "set." + compare + "." + result + "." + of.type;
  form.results = {kind};
  form.sources = {of.kind, of.kind};
  form.numbers = {"", ""};
  form.apply = [of, compare, truth](const Bits* s, Bits* r) {
    const bool first = holds(compare, of.order(s[0], s[1]));
    if (!of.pair) {
      r[0] = first ? truth : 0;
    } else {
      const bool second = holds(compare, of.order(s[0] >> 16, s[1] >> 16));
      r[0] = (first ? truth & 0xffff : 0) | (second ? truth & 0xffff'0000 : 0);
    }
  };
  out.push_back(std::move(form));
}

void add_sets(std::vector<Form>& out, const Compared& of, const std::string& compare) {
  constexpr Bits kAll16 = 0xffff, kAll32 = 0xffff'ffff;
  if (of.type == "f32") {
    add_set(out, of, compare, "u32", Kind::b32, kAll32);
    add_set(out, of, compare, "s32", Kind::b32, kAll32);
    add_set(out, of, compare, "f32", Kind::b32, 0x3f80'0000);
  } else if (of.type == "f16" || of.type == "bf16") {
    add_set(out, of, compare, "u16", Kind::b16, kAll16);
    add_set(out, of, compare, "s16", Kind::b16, kAll16);
    add_set(out, of, compare, "u32", Kind::b32, kAll32);
    add_set(out, of, compare, "s32", Kind::b32, kAll32);
    add_set(out, of, compare, of.type, Kind::b16, of.type == "f16" ? 0x3c00 : 0x3f80);
  } else if (of.pair) {
    add_set(out, of, compare, "u32", Kind::b32, kAll32);
    add_set(out, of, compare, "s32", Kind::b32, kAll32);
    add_set(out, of, compare, of.type, Kind::b32, of.type == "f16x2" ? 0x3c00'3c00 : 0x3f80'3f80);
  }
}

}  // namespace

void add_compare_forms(std::vector<Form>& out) {
  for (const Compared& of : compared_types()) {
    for (const std::string& compare : of.compares) {
      for (const char* operation : {"", "and", "or", "xor"}) {
        for (const bool two : {false, true}) {
          const bool is_half = of.kind == Kind::b16 && !of.numbers;  // one result; pairs have two
          if (of.pair ? two : !two || !is_half) add_setp(out, of, compare, operation, two);
        }
      }
      add_sets(out, of, compare);
    }
  }
  for (const char* test : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    for (const char* type : {"f32", "f64"}) {
      Form form;
      form.mnemonic = "testp";
      form.text = std::string("testp.") + test + "." + type;
      form.results = {Kind::pred};
      form.sources = {type[1] == '3' ? Kind::b32 : Kind::b64};
      form.numbers = {""};
      form.apply = [name = std::string(test), single = type[1] == '3'](const Bits* s, Bits* r) {
        const int kind = single ? std::fpclassify(as<float>(s[0])) : std::fpclassify(as<double>(s[0]));
        const bool of_all = kind == FP_NAN        ? name == "notanumber"
                            : kind == FP_INFINITE ? name == "infinite" || name == "number"
                                                  : name == "finite" || name == "number";
        r[0] = name == "subnormal" ? kind == FP_SUBNORMAL
               : name == "normal"  ? kind == FP_NORMAL || kind == FP_ZERO
                                   : of_all;
      };
      out.push_back(std::move(form));
    }
  }
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const std::string name = type;
    const Kind kind = name.ends_with("16") ? Kind::b16 : name.ends_with("32") ? Kind::b32 : Kind::b64;
    Form form;
    form.mnemonic = "selp";
    form.text = "selp." + name;
    form.results = {kind};
    form.sources = {kind, kind, Kind::pred};
    form.numbers = {name, name, ""};
    form.apply = [](const Bits* s, Bits* r) { r[0] = s[2] != 0 ? s[0] : s[1]; };
    form.makes_addresses = kind != Kind::b16 && name[0] != 'f';
    out.push_back(std::move(form));
  }
}

}  // namespace roofwalk::random
