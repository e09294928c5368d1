#include "tests/random/generator.h"

namespace roofwalk::random {

Statement& Generator::put(Statement statement) {
  statement.id = next_id_++;
  target_->push_back(std::move(statement));
  return target_->back();
}

void Generator::put(Instruction code) {
  Statement statement;
  statement.code = std::move(code);
  put(std::move(statement));
}

Register Generator::pool(Kind kind) {
  const auto k = static_cast<int>(kind);
  if (kind == Kind::b32 && !words_.empty() && chance(15)) return one_of(words_);
  if (kind == Kind::b64 && !doubles_.empty() && chance(10)) return one_of(doubles_);
  return {kind, static_cast<int>(below(static_cast<Bits>(pool_[k])))};
}

Register Generator::target(Kind kind) {
  return {kind, static_cast<int>(below(static_cast<Bits>(pool_[static_cast<int>(kind)])))};
}

Operand Generator::random_number(const std::string& type) {
  if (type == "f32") return number(single_number(), type);
  if (type == "f64") return number(double_number(), type);
  return number(integer_number(std::stoi(type.substr(1))), type);
}

Instruction Generator::form(const Form& form, std::vector<Operand> results, std::vector<Operand> sources) {
  Instruction out;
  out.what = Do::form;
  out.text = form.text;
  out.form = &form;
  out.results = std::move(results);
  out.sources = std::move(sources);
  return out;
}

Instruction Generator::form(const char* text, Register result, std::vector<Operand> sources) {
  return form(forms_.named(text), {of(result)}, std::move(sources));
}

void Generator::guard(Instruction& in) {
  in.guard = pool(Kind::pred).index;
  in.guard_negated = chance(50);
}

Instruction Generator::compute(const Form& chosen) {
  Instruction out = form(chosen, {}, {});
  bool has_number = false;
  for (std::size_t i = 0; i < chosen.sources.size(); ++i) {
    if (static_cast<int>(i) == chosen.only_number) {
      out.sources.push_back(random_number(chosen.numbers[i]));
      continue;
    }
    if (!chosen.numbers[i].empty() && !has_number && chance(chosen.makes_addresses ? 35 : 15)) {
      out.sources.push_back(random_number(chosen.numbers[i]));
      has_number = true;
      continue;
    }
    out.sources.push_back(of(pool(chosen.sources[i])));
  }
  if (chosen.negatable_predicate && chance(40)) out.sources.back().negated = true;
  for (const Kind kind : chosen.results) {
    Register reg = target(kind);
    const auto taken = [&] {
      return std::any_of(out.results.begin(), out.results.end(), [&](const Operand& r) { return r.reg == reg; });
    };
    while (taken()) reg = target(kind);
    out.results.push_back(of(reg));
  }
  if (chance(18)) guard(out);
  return out;
}

void Generator::computation() {
  if (chance(50)) return put(compute(*one_of(forms_.of_addresses())));
  put(compute(*one_of(one_of(forms_.by_mnemonic()))));
}

// Generates a multi-word addition or similar: the first instruction only sets the carry, the last one only reads it.
void Generator::carries() {
  const int words = between(2, 4), bits = chance(70) ? 32 : 64;
  const Kind kind = bits == 32 ? Kind::b32 : Kind::b64;
  Instruction all;
  if (chance(20)) guard(all);
  for (int i = 0; i < words; ++i) {
    Instruction in = all;
    in.what = Do::carry;
    in.name = one_of(std::array<const char*, 4>{"add", "sub", "mad.lo", "mad.hi"});
    in.element_bytes = bits / 8;
    in.is_signed = chance(30);
    in.carry_in = i > 0;
    in.carry_out = i + 1 < words;
    in.text = in.name;
    if (in.carry_in) in.text.insert(3, "c");
    in.text += fmt::format("{}.{}{}", in.carry_out ? ".cc" : "", in.is_signed ? 's' : 'u', bits);
    in.results = {of(target(kind))};
    for (int s = in.name[0] == 'm' ? 3 : 2; s > 0; --s) in.sources.push_back(of(pool(kind)));
    if (chance(20)) in.sources.back() = number(integer_number(bits), fmt::format("u{}", bits));
    put(std::move(in));
  }
}

}  // namespace roofwalk::random
