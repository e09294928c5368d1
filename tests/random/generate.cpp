#include "tests/random/generator.h"

#include <map>

namespace roofwalk::random {

Program Generator::run() {
  choose_shape();
  fill_memory();
  choose_functions();
  std::copy(std::begin(kPool), std::end(kPool), std::begin(pool_));
  std::copy(std::begin(pool_), std::end(pool_), std::begin(next_));
  target_ = &out_.statements;
  ragged_ = chance(12);
  if (!ragged_ && forms_.has("mbarrier") && chance(50)) out_.gates = 2;
  prologue();
  talks_ = chance(50);
  out_.counts_warps = !ragged_;
  statements(static_cast<int>(12 + below(45)), 0, !ragged_);
  if (ragged_) barriers_of_who_is_left();
  epilogue();
  std::copy(std::begin(next_), std::end(next_), std::begin(out_.registers));
  for (std::size_t f = 0; f < out_.functions.size(); ++f) write_function(static_cast<int>(f));
  return std::move(out_);
}

FormChoice::FormChoice(std::vector<Form> forms, std::set<std::string> features)
    : forms_(std::move(forms)), features_(std::move(features)) {
  std::map<std::string, std::vector<const Form*>> exact;
  for (const Form& form : forms_) {
    if (form.accepts)
      approximations_.push_back(&form);
    else
      exact[form.mnemonic].push_back(&form);
    if (form.makes_addresses) of_addresses_.push_back(&form);
  }
  for (auto& [mnemonic, list] : exact) by_mnemonic_.push_back(std::move(list));
}

const Form& FormChoice::named(const std::string& text) const {
  for (const Form& form : forms_) {
    if (form.text == text && form.look == Form::Look::plain && form.results.size() == 1) return form;
  }
  ROOFWALK_CHECK(false);
}

Program generate(std::uint64_t seed, const FormChoice& forms) { return Generator(seed, forms).run(); }

const std::vector<std::pair<std::string, Instruction>>& feature_probes() {
  const Operand pred = of({Kind::pred, 0}), other = of({Kind::pred, 1}), word = of({Kind::b32, 0}),
                wide = of({Kind::b64, 0}), all = number(0xffff'ffff, "b32"), zero = number(0, "u32");
  static const std::vector<std::pair<std::string, Instruction>> kProbes = {
      {"redux", {.what = Do::reduce, .text = "redux.sync.add.u32", .results = {word}, .sources = {word, all}}},
      {"match", {.what = Do::match, .text = "match.any.sync.b32", .results = {word}, .sources = {word, all}}},
      {"bar.red",
       {.what = Do::barrier_reduce, .text = "bar.red.and.pred", .results = {pred}, .sources = {zero, other}}},
      {"isspacep", {.what = Do::space_query, .text = "isspacep.shared", .results = {pred}, .sources = {wide}}},
      {"ldmatrix",
       {.what = Do::load_matrices,
        .text = "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
        .results = {word},
        .base = word.reg,
        .has_base = true}},
      {"mma",
       {.what = Do::multiply_matrices,
        .text = kMatrixShapes[0].text,
        .results = {word, word, word, word},
        .sources = std::vector<Operand>(10, word),
        .shape = &kMatrixShapes[0]}},
      {"mbarrier",
       {.what = Do::gate_arrive,
        .text = "mbarrier.arrive.shared.b64",
        .results = {wide},
        .base = word.reg,
        .has_base = true}},
      {"nanosleep", {.what = Do::nothing, .text = "nanosleep.u32", .sources = {number(20, "u32")}}},
  };
  return kProbes;
}

}  // namespace roofwalk::random
