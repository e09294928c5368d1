#include "tests/random/forms.h"

namespace roofwalk::random {

int bits_of(Kind kind) { return kind == Kind::pred ? 1 : kind == Kind::b16 ? 16 : kind == Kind::b32 ? 32 : 64; }

std::vector<Form> all_forms() {
  std::vector<Form> out;
  add_integer_forms(out);
  add_float_forms(out);
  add_convert_forms(out);
  add_compare_forms(out);
  return out;
}

}  // namespace roofwalk::random
