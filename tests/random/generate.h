// Generates a program from a seed; the same seed always gives the same program.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/random/program.h"

namespace roofwalk::random {

// The forms and the optional features (feature_probes) that the generator may use.
class FormChoice {
 public:
  FormChoice(std::vector<Form> forms, std::set<std::string> features);
  bool has(const std::string& feature) const { return features_.contains(feature); }
  const std::vector<std::vector<const Form*>>& by_mnemonic() const { return by_mnemonic_; }
  const std::vector<const Form*>& of_addresses() const { return of_addresses_; }
  const std::vector<const Form*>& approximations() const { return approximations_; }
  const Form& named(const std::string& text) const;  // the form with this text, which must exist and be simple
  const std::vector<Form>& all() const { return forms_; }

 private:
  std::vector<Form> forms_;
  std::set<std::string> features_;
  std::vector<std::vector<const Form*>> by_mnemonic_;
  std::vector<const Form*> of_addresses_, approximations_;
};

Program generate(std::uint64_t seed, const FormChoice& forms);

// Returns the optional features of `generate`: the name of each, and an instruction. The feature may be used if the
// virtual GPU supports that instruction.
const std::vector<std::pair<std::string, Instruction>>& feature_probes();

}  // namespace roofwalk::random
