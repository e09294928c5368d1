// Makes a program from a seed: the same one for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/random/program.h"

namespace roofwalk::random {

// The forms that a generator may use, by mnemonic.
class FormChoice {
 public:
  explicit FormChoice(std::vector<Form> forms);
  const std::vector<std::vector<const Form*>>& by_mnemonic() const { return by_mnemonic_; }
  const std::vector<const Form*>& of_addresses() const { return of_addresses_; }
  const std::vector<const Form*>& approximations() const { return approximations_; }
  const Form& named(const std::string& text) const;  // must be there, and simple
  const std::vector<Form>& all() const { return forms_; }

 private:
  std::vector<Form> forms_;
  std::vector<std::vector<const Form*>> by_mnemonic_;
  std::vector<const Form*> of_addresses_, approximations_;
};

Program generate(std::uint64_t seed, const FormChoice& forms);

// The mnemonics that `generate` writes by itself, without a form.
std::vector<std::string> mnemonics_without_form();

}  // namespace roofwalk::random
