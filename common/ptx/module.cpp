#include "common/ptx/module.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/ptx/names.h"
#include "common/ptx/parser.h"

namespace roofwalk::ptx {

int size_bytes(Type type) {
  switch (type) {
    case Type::none:
    case Type::pred:
      return 0;
    case Type::b8:
    case Type::u8:
    case Type::s8:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::tf32:
    case Type::f32:
      return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 8;
    case Type::b128:
      return 16;
  }
  return 0;
}

std::string_view type_name(Type type) {
  for (const Name<Type>& name : kTypeNames) {
    if (name.value == type) return name.word;
  }
  return "none";
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2 || type == Type::tf32 ||
         type == Type::f32 || type == Type::f64;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 || is_float(type);
}

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

namespace {

Type widened(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    default:
      return Type::s64;
  }
}

Type type_of(OperandType operand, const Instruction& in) {
  switch (operand) {
    case OperandType::count:
      return Type::u32;
    case OperandType::first_factor:
      return in.source_type;
    case OperandType::second_factor:
      return in.second_type;
    case OperandType::wide:
      return in.mul == MulMode::wide ? widened(in.type) : in.type;
    case OperandType::own:
    case OperandType::truth_table:
      return in.type;
    case OperandType::none:
      break;
  }
  return Type::none;
}

}  // namespace

Type type_of_result(const Instruction& in) { return type_of(info(in.opcode).operands.result, in); }

Type type_of_source(const Instruction& in, std::size_t index) {
  return type_of(info(in.opcode).operands.sources[index], in);
}

bool has_trait(const Instruction& in, TraitSet trait) { return (info(in.opcode).traits & trait) != 0; }

bool computes(const Instruction& in, TraitSet what) {
  return info(in.opcode).form == Form::alu && info(in.opcode).traits == what;
}

bool same_parameters(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& left, const Variable& right) {
    return left.size_bytes == right.size_bytes && size_bytes(left.type) == size_bytes(right.type);
  });
}

const Function* Module::find_function(std::string_view name) const {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

const Variable* Module::find_variable(std::string_view name) const {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

namespace {

// Returns the line of the frame with number `before`, among the frames in the source file: 0 is the innermost, 1 the
// one around it, and so on. 0 if there is no such frame.
int line_of_frame(const Module& module, const Instruction& instruction, std::string_view source_name, int before) {
  const auto location = static_cast<std::size_t>(instruction.location);
  if (instruction.location < 0 || location >= module.locations.size()) return 0;
  for (const SourceFrame& frame : module.locations[location]) {
    if (frame.file < 0 || frame.line <= 0) continue;  // line 0: compiler-generated code
    if (is_source(module.files[static_cast<std::size_t>(frame.file)], source_name) && before-- == 0) return frame.line;
  }
  return 0;
}

}  // namespace

int Module::line_in(const Instruction& instruction, std::string_view source_name) const {
  return line_of_frame(*this, instruction, source_name, 0);
}

int Module::caller_in(const Instruction& instruction, std::string_view source_name) const {
  return line_of_frame(*this, instruction, source_name, 1);
}

bool Module::is_of_header(const Instruction& instruction, std::string_view source_name) const {
  const auto location = static_cast<std::size_t>(instruction.location);
  if (instruction.location < 0 || location >= locations.size()) return false;
  for (const SourceFrame& frame : locations[location]) {
    if (frame.file < 0 || frame.line <= 0) continue;
    return !is_source(files[static_cast<std::size_t>(frame.file)], source_name);
  }
  return false;
}

namespace {

// Calls `visit` with the name of each function that the instructions name: callees, and functions whose address is
// taken. If there is a call through a pointer, also with those whose address stands in a variable or in a prototype.
template <class Visit>
void for_each_named_function(const Module& module, const Function& function, Visit&& visit) {
  bool through_pointer = false;
  const auto visit_operands = [&](auto&& self, const std::vector<Operand>& operands) -> void {
    for (const Operand& operand : operands) {
      if (operand.kind == Operand::Kind::function) visit(operand.symbol);
      self(self, operand.elements);
    }
  };
  for (const Instruction& in : function.instructions) {
    visit_operands(visit_operands, in.operands);
    through_pointer |= in.prototype >= 0;
  }
  if (!through_pointer) return;
  for (const Variable& variable : module.variables) {
    for (const Variable::Fixup& fixup : variable.fixups) visit(fixup.symbol);
  }
  for (const Prototype& prototype : function.prototypes) {
    for (const std::string& target : prototype.targets) visit(target);
  }
}

}  // namespace

const Function* find_reachable(const Module& module, const Function& kernel,
                               const std::function<bool(const Function&)>& is_wanted) {
  std::vector<const Function*> reached{&kernel};
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (is_wanted(*reached[i])) return reached[i];
    for_each_named_function(module, *reached[i], [&](const std::string& name) {
      const Function* function = seen.insert(name).second ? module.find_function(name) : nullptr;
      if (function != nullptr && !function->is_entry) reached.push_back(function);
    });
  }
  return nullptr;
}

const Error* why_unsupported(const Module& module, const Function& kernel) {
  const Function* found =
      find_reachable(module, kernel, [](const Function& function) { return function.unsupported.has_value(); });
  return found == nullptr ? nullptr : &*found->unsupported;
}

bool multiplies_matrices(const Module& module, const Function& kernel) {
  return find_reachable(module, kernel, [](const Function& function) {
           return std::any_of(function.instructions.begin(), function.instructions.end(),
                              [](const Instruction& in) { return info(in.opcode).form == Form::matrix_multiply; });
         }) != nullptr;
}

Result<Module> parse(std::string_view text, std::string_view source_name, const Limits& limits) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  constexpr std::string_view kFatBinary = "\x50\xed\x55\xba";
  if (text.starts_with(kElf) || text.starts_with(kFatBinary)) {
    return Error{"this is compiled machine code, not PTX", std::string(source_name), 0, "recompile with nvcc -ptx"};
  }
  if (text.size() > limits.text_bytes) {
    return Error{fmt::format("the PTX has {} bytes, more than the {} that are read", text.size(), limits.text_bytes),
                 std::string(source_name)};
  }
  return Parser(text, source_name, limits).run();
}

}  // namespace roofwalk::ptx
