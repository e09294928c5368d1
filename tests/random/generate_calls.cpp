#include <array>

#include "tests/random/generator.h"

namespace roofwalk::random {
namespace {

// Every function's first parameters: buffer addresses, the thread's number in the grid, and the remaining call depth.
constexpr Buffer kHandedOn[] = {kInput, kBlocked, kSpread};
constexpr int kFixed = 5;

}  // namespace

void Generator::choose_functions() {
  const auto parameter = [&] {
    Parameter out;
    out.is_bytes = chance(30);
    for (int i = out.is_bytes ? between(1, 3) : 1; i > 0; --i) {
      // Parameters cannot be predicates.
      out.fields.push_back(one_of(std::array<Kind, 4>{Kind::b16, Kind::b32, Kind::b32, Kind::b64}));
    }
    return out;
  };
  for (int f = chance(55) ? between(1, 3) : 0; f > 0; --f) {
    Function function;
    for (const Kind kind : {Kind::b64, Kind::b64, Kind::b64, Kind::b32, Kind::b32})
      function.parameters.push_back({{kind}});
    for (int i = between(0, 3); i > 0; --i) function.parameters.push_back(parameter());
    if (chance(80)) function.results.push_back(parameter());
    function.has_local = chance(40);
    out_.functions.push_back(std::move(function));
  }
}

// Generates a call from the kernel or from another function.
void Generator::call(int callee, Operand depth) {
  const Function& function = out_.functions[static_cast<std::size_t>(callee)];
  group([&] {
    const auto add = [&](Do what, std::string text, std::size_t parameter, std::size_t field) {
      Instruction in;
      in.what = what;
      in.text = std::move(text);
      in.function = callee;
      in.parameter = static_cast<int>(parameter);
      in.field = static_cast<int>(field);
      return in;
    };
    put(add(Do::open_call, "", 0, 0));
    for (std::size_t p = 0; p < function.parameters.size(); ++p) {
      const Parameter& parameter = function.parameters[p];
      for (std::size_t f = 0; f < parameter.fields.size(); ++f) {
        const Kind kind = parameter.fields[f];
        Instruction in = add(Do::argument, fmt::format("st.param.b{}", bits_of(kind)), p, f);
        if (p < std::size(kHandedOn))
          in.sources = {of(buffers_[kHandedOn[p]])};
        else if (p + 2 == kFixed)
          in.sources = {of(all_)};
        else if (p + 1 == kFixed)
          in.sources = {depth};
        else
          in.sources = {chance(20) ? random_number(fmt::format("b{}", bits_of(kind))) : of(pool(kind))};
        put(std::move(in));
      }
    }
    // A skipped call writes no result, so the results of a guarded call are not read.
    const bool guarded = chance(10);
    Instruction in = add(Do::call, "call", 0, 0);
    if (guarded) guard(in);
    put(std::move(in));
    if (!guarded && !function.results.empty()) {
      if (chance(25)) computation();
      const auto& fields = function.results[0].fields;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        if (chance(15)) continue;
        Instruction take = add(Do::take_result, fmt::format("ld.param.b{}", bits_of(fields[f])), 0, f);
        take.results = {of(target(fields[f]))};
        put(std::move(take));
      }
    }
    put(add(Do::close_call, "", 0, 0));
  });
}

void Generator::call_from_kernel(int depth) {
  const auto callee = static_cast<int>(below(out_.functions.size()));
  if (depth > 0) return call(callee, number(below(2), "b32"));
  const Register levels = fresh(Kind::b32);
  group([&] { put(form("rem.u32", levels, {of(pool(Kind::b32)), number(3, "u32")})); });
  call(callee, of(levels));
}

// Generates a function, which sees only its own registers.
void Generator::write_function(int index) {
  Function& function = out_.functions[static_cast<std::size_t>(index)];
  std::copy(std::begin(kPoolOfFunction), std::end(kPoolOfFunction), std::begin(pool_));
  std::copy(std::begin(pool_), std::end(pool_), std::begin(next_));
  words_.clear();
  doubles_.clear();
  coordinates_.clear();
  uniform_coordinates_.clear();
  in_function_ = true;
  has_local_ = function.has_local;
  std::vector<Statement> statements_of_function;
  target_ = &statements_of_function;
  const Register levels = take_parameters(index);
  starts_ = true;
  first_values();
  starts_ = false;
  if (has_local_) fill_local();
  statements(between(3, 8), 1, false);
  if (index + 1 < static_cast<int>(out_.functions.size()) && chance(50)) call(index + 1, of(levels));
  if (chance(60)) call_again(between(0, index), levels);
  if (chance(20)) return_early(index);
  statements(between(0, 3), 2, false);
  give_results(index);
  function.statements = std::move(statements_of_function);
  std::copy(std::begin(next_), std::end(next_), std::begin(function.registers));
}

Register Generator::take_parameters(int index) {
  const Function& function = out_.functions[static_cast<std::size_t>(index)];
  Register levels;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const auto& fields = function.parameters[p].fields;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      Instruction in;
      in.what = Do::take_parameter;
      in.text = fmt::format("ld.param.b{}", bits_of(fields[f]));
      in.function = index;
      in.parameter = static_cast<int>(p);
      in.field = static_cast<int>(f);
      const Register reg = fresh(fields[f]);
      in.results = {of(reg)};
      put(std::move(in));
      if (p < std::size(kHandedOn))
        buffers_[kHandedOn[p]] = reg;
      else if (p + 2 == kFixed)
        all_ = reg;
      else if (p + 1 == kFixed)
        levels = reg;
      else if (reg.kind == Kind::b32)
        words_.push_back(reg);
      else if (reg.kind == Kind::b64)
        doubles_.push_back(reg);
    }
  }
  const auto coordinate = [&](Register reg, int most) {
    words_.push_back(reg);
    coordinates_.push_back({reg, most});
  };
  coordinate(all_, all_threads_ - 1);
  coordinate(special("%tid.x"), static_cast<int>(out_.block.x) - 1);
  coordinate(special("%ctaid.x"), static_cast<int>(out_.grid.x) - 1);
  uniform_coordinates_ = {coordinates_.back()};
  return levels;
}

// Makes the function call itself or an earlier function while call depth remains.
void Generator::call_again(int callee, Register levels) {
  Statement out;
  out.what = What::choice;
  out.predicate = fresh(Kind::pred);
  group([&] { put(form("setp.gt.s32", out.predicate, {of(levels), number(0, "s32")})); });
  out.body = body([&] {
    const Register less = fresh(Kind::b32);
    put(form("sub.s32", less, {of(levels), number(1, "s32")}));
    call(callee, of(less));
  });
  put(std::move(out));
}

// Makes some lanes return early. They rejoin the others only after the call.
void Generator::return_early(int index) {
  group([&] {
    give_results(index);
    Instruction in;
    in.what = Do::leave;
    in.text = "ret";
    guard(in);
    put(std::move(in));
  });
}

void Generator::give_results(int index) {
  const Function& function = out_.functions[static_cast<std::size_t>(index)];
  group([&] {
    for (std::size_t f = 0; !function.results.empty() && f < function.results[0].fields.size(); ++f) {
      const Kind kind = function.results[0].fields[f];
      Instruction in;
      in.what = Do::give_result;
      in.text = fmt::format("st.param.b{}", bits_of(kind));
      in.function = index;
      in.parameter = 0;
      in.field = static_cast<int>(f);
      in.sources = {of(pool(kind))};
      put(std::move(in));
    }
  });
}

}  // namespace roofwalk::random
