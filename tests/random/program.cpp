#include "tests/random/program.h"

#include <algorithm>

#include <fmt/format.h>

namespace roofwalk::random {
namespace {

// Forms for loop counters.
Form loop_form(Kind result, std::uint64_t (*apply)(std::uint64_t, std::uint64_t)) {
  Form form;
  form.results = {result};
  form.sources = {Kind::b32, Kind::b32};
  form.apply = [apply](const std::uint64_t* s, std::uint64_t* r) { r[0] = apply(s[0], s[1]); };
  return form;
}
const Form kAddOne = loop_form(Kind::b32, [](std::uint64_t a, std::uint64_t b) { return (a + b) & 0xffff'ffff; });
const Form kIsLess = loop_form(Kind::pred, [](std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b));
});

class Flattener {
 public:
  Code run(const Program& program) {
    all(program.statements);
    put({.what = Do::leave, .text = "ret"});
    for (const Function& function : program.functions) {
      code_.functions.push_back(code_.lines.size());
      all(function.statements);
      put({.what = Do::leave, .text = "ret"});
    }
    return std::move(code_);
  }

 private:
  void put(Instruction instruction) { code_.lines.push_back({std::move(instruction), loops_}); }
  int new_label() {
    code_.labels.push_back(-1);
    return static_cast<int>(code_.labels.size()) - 1;
  }
  void place(int label) {
    code_.labels[static_cast<std::size_t>(label)] = static_cast<int>(code_.lines.size());
    put({.what = Do::label, .label = label});
  }
  void branch(int label, const Statement* on, bool when, bool uniform) {
    Instruction out{.what = Do::branch, .text = uniform ? "bra.uni" : "bra", .label = label};
    if (on != nullptr) {
      out.guard = on->predicate.index;
      out.guard_negated = on->negated == when;
    }
    put(std::move(out));
  }

  void all(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) one(statement);
  }

  void step(const Statement& loop) {
    put({.what = Do::form,
         .text = "add.s32",
         .form = &kAddOne,
         .results = {of(loop.counter)},
         .sources = {of(loop.counter), number(1, "s32")}});
    put({.what = Do::form,
         .text = "setp.lt.s32",
         .form = &kIsLess,
         .results = {of(loop.predicate)},
         .sources = {of(loop.counter), of(loop.limit)}});
  }

  void one(const Statement& s) {
    switch (s.what) {
      case Statement::What::code:
        return put(s.code);
      case Statement::What::group:
        return all(s.body);
      case Statement::What::choice: {
        const int otherwise = new_label(), end = s.otherwise.empty() ? otherwise : new_label();
        branch(otherwise, &s, false, s.uniform);
        all(s.body);
        if (!s.otherwise.empty()) {
          branch(end, nullptr, true, s.uniform);
          place(otherwise);
          all(s.otherwise);
        }
        return place(end);
      }
      case Statement::What::loop_bottom: {
        const int loop = loops_made_++, top = new_label();
        put({.what = Do::enter_loop, .loop = loop});
        loops_.push_back(loop);
        place(top);
        put({.what = Do::next_iteration, .loop = loop});
        all(s.body);
        step(s);
        branch(top, &s, true, s.uniform);
        return loops_.pop_back();
      }
      case Statement::What::loop_top: {
        const int loop = loops_made_++, top = new_label(), end = new_label();
        put({.what = Do::enter_loop, .loop = loop});
        loops_.push_back(loop);
        place(top);
        put({.what = Do::next_iteration, .loop = loop});
        step(s);
        branch(end, &s, false, s.uniform);
        all(s.body);
        branch(top, nullptr, true, s.uniform);
        loops_.pop_back();
        return place(end);
      }
      case Statement::What::scope: {
        const int end = new_label();
        scopes_.push_back(end);
        all(s.body);
        scopes_.pop_back();
        return place(end);
      }
      case Statement::What::table: {
        std::vector<int> arms;
        for (std::size_t i = 0; i < s.body.size(); ++i) arms.push_back(new_label());
        const int end = new_label();
        Instruction out = s.code;
        out.labels.clear();
        for (const int way : s.ways) out.labels.push_back(way < 0 ? end : arms[static_cast<std::size_t>(way)]);
        put(std::move(out));
        for (std::size_t i = 0; i < arms.size(); ++i) {
          place(arms[i]);
          all(s.body[i].body);
          if (i + 1 < arms.size()) branch(end, nullptr, true, false);
        }
        return place(end);
      }
      case Statement::What::arm:
        return all(s.body);
      case Statement::What::poll: {
        const int top = new_label();
        place(top);
        put(s.code);
        branch(top, &s, false, false);
        code_.lines.back().code.repeats = true;
        return;
      }
      case Statement::What::leave_scope:
        if (!scopes_.empty()) branch(scopes_.back(), &s, true, false);
        return;
    }
  }

  Code code_;
  std::vector<int> loops_, scopes_;
  int loops_made_ = 0;
};

std::string name_of(Register reg) { return fmt::format("%{}{}", "phrd"[static_cast<int>(reg.kind)], reg.index); }

std::string number_text(const Operand& operand) {
  const std::string& type = operand.type;
  if (type == "f32") return fmt::format("0f{:08X}", operand.bits);
  if (type == "f64") return fmt::format("0d{:016X}", operand.bits);
  if (type == "s16") return std::to_string(static_cast<std::int16_t>(operand.bits));
  if (type == "s32") return std::to_string(static_cast<std::int32_t>(operand.bits));
  if (type == "s64") return std::to_string(static_cast<std::int64_t>(operand.bits));
  if (type[0] == 'b') return fmt::format("{:#x}", operand.bits);
  return std::to_string(operand.bits);
}

std::string operand_text(const Operand& operand) {
  switch (operand.what) {
    case Operand::What::none:
      return "_";
    case Operand::What::reg:
      return (operand.negated ? "!" : "") + name_of(operand.reg);
    case Operand::What::number:
      return number_text(operand);
  }
  return {};
}

std::string joined(const std::vector<Operand>& operands, const char* between = ", ") {
  std::string out;
  for (const Operand& operand : operands) out += (out.empty() ? "" : between) + operand_text(operand);
  return out;
}

std::string braced(const std::vector<Operand>& operands) {
  return operands.size() > 1 ? "{" + joined(operands) + "}" : joined(operands);
}

std::string offset_text(std::int64_t offset) { return offset == 0 ? std::string() : fmt::format("{:+}", offset); }

std::string address_text(const Instruction& in) {
  return "[" + (in.has_base ? name_of(in.base) : in.name) + offset_text(in.offset) + "]";
}

std::string labels_text(const Instruction& in, const char* before, const char* between) {
  std::string out;
  for (const int label : in.labels) out += fmt::format("{}{}{}", out.empty() ? "" : between, before, label);
  return out;
}

// Returns the name of the branch's table, which is the same for all branches with the same list of labels. Each table
// is printed above its branch.
std::string table_name(const Instruction& in) { return "T" + labels_text(in, "", "_"); }

// Texts for calls: the declaration of a parameter; names of arguments, parameters and results; the address of a field.
std::string declaration(const Parameter& parameter, const std::string& name) {
  if (parameter.is_bytes)
    return fmt::format(".param .align 8 .b8 {}[{}]", name, kFieldBytes * static_cast<int>(parameter.fields.size()));
  return fmt::format(".param .b{} {}", bits_of(parameter.fields[0]), name);
}
std::string argument_name(int index) { return fmt::format("to{}", index); }
std::string parameter_name(int function, int index) { return fmt::format("f{}_p{}", function, index); }
std::string result_name(int function) { return fmt::format("f{}_back", function); }
std::string field_text(const std::string& name, const Instruction& in) {
  return "[" + name + offset_text(in.field * kFieldBytes) + "]";
}

std::string scope_text(const Function& function) {
  std::string out = "{\n";
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    out += declaration(function.parameters[i], argument_name(static_cast<int>(i))) + ";\n";
  if (!function.results.empty()) out += declaration(function.results[0], "back") + ";\n";
  return out;
}

std::string call_text(const Function& function, int index) {
  std::string arguments;
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    arguments += (i == 0 ? "" : ", ") + argument_name(static_cast<int>(i));
  return fmt::format("{}f{}, ({})", function.results.empty() ? "" : "(back), ", index, arguments);
}

std::string prototype(const Function& function, int index) {
  std::string out = ".func ";
  if (!function.results.empty()) out += "(" + declaration(function.results[0], result_name(index)) + ") ";
  out += fmt::format("f{}(", index);
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    out += (i == 0 ? "" : ", ") + declaration(function.parameters[i], parameter_name(index, static_cast<int>(i)));
  return out + ")";
}

std::string operands_text(const Instruction& in) {
  switch (in.what) {
    case Do::form:
      if (in.form->look == Form::Look::two_predicates) return joined(in.results, "|") + ", " + joined(in.sources);
      if (in.form->look == Form::Look::pack) return joined(in.results) + ", {" + joined(in.sources) + "}";
      if (in.form->look == Form::Look::unpack) return "{" + joined(in.results) + "}, " + joined(in.sources);
      return joined(in.results) + ", " + joined(in.sources);
    case Do::parameter:
      return joined(in.results) + ", [" + in.name + "]";
    case Do::special:
    case Do::address:
      return joined(in.results) + ", " + in.name;
    case Do::load:
      return braced(in.results) + ", " + address_text(in);
    case Do::store:
      return address_text(in) + ", " + braced(in.sources);
    case Do::atomic:
      return (in.results.empty() ? "" : joined(in.results) + ", ") + address_text(in) + ", " + joined(in.sources);
    case Do::shuffle:
    case Do::match:
      return joined(in.results, "|") + ", " + joined(in.sources);
    case Do::copy:
      return fmt::format("{}, [{}], {}", address_text(in), name_of(in.second_base), in.element_bytes);
    case Do::branch:
      return fmt::format("L{}", in.label);
    case Do::branch_by_index:
      return joined(in.sources) + ", " + table_name(in);
    case Do::active_mask:
      return joined(in.results);
    case Do::argument:
      return field_text(argument_name(in.parameter), in) + ", " + joined(in.sources);
    case Do::take_result:
      return joined(in.results) + ", " + field_text("back", in);
    case Do::take_parameter:
      return joined(in.results) + ", " + field_text(parameter_name(in.function, in.parameter), in);
    case Do::give_result:
      return field_text(result_name(in.function), in) + ", " + joined(in.sources);
    case Do::load_matrices:
      return "{" + joined(in.results) + "}, " + address_text(in);
    case Do::multiply_matrices: {
      const auto a = in.sources.begin(), b = a + in.shape->a_registers, c = b + in.shape->b_registers;
      return fmt::format("{{{}}}, {{{}}}, {{{}}}, {{{}}}", joined(in.results), joined({a, b}), joined({b, c}),
                         joined({c, in.sources.end()}));
    }
    case Do::gate_init:
    case Do::gate_arrive:
    case Do::gate_wait:
    case Do::gate_test:
      return joined(in.results) + (in.results.empty() ? "" : ", ") + address_text(in) +
             (in.sources.empty() ? "" : ", ") + joined(in.sources);
    case Do::nothing:
      return in.has_base ? address_text(in) : joined(in.sources);
    default:
      return joined(in.results) + (in.results.empty() || in.sources.empty() ? "" : ", ") + joined(in.sources);
  }
}

void collect(const std::vector<Statement>& statements, bool within_groups, std::vector<int>& out) {
  for (const Statement& s : statements) {
    if (s.id >= 0) out.push_back(s.id);
    if (s.what == Statement::What::group && !within_groups) continue;
    collect(s.body, within_groups, out);
    collect(s.otherwise, within_groups, out);
  }
}

Statement* find(std::vector<Statement>& statements, int id) {
  for (Statement& s : statements) {
    if (s.id == id) return &s;
    for (auto* inner : {&s.body, &s.otherwise}) {
      if (Statement* found = find(*inner, id)) return found;
    }
  }
  return nullptr;
}

std::vector<Statement> kept(const std::vector<Statement>& statements, const std::set<int>& ids) {
  std::vector<Statement> out;
  for (const Statement& s : statements) {
    if (ids.contains(s.id)) continue;
    Statement copy = s;
    copy.body = kept(s.body, ids);
    copy.otherwise = kept(s.otherwise, ids);
    out.push_back(std::move(copy));
  }
  return out;
}

std::vector<Statement> spread(const std::vector<Statement>& statements, const std::set<int>& ids) {
  std::vector<Statement> out;
  for (const Statement& s : statements) {
    Statement copy = s;
    copy.body = spread(s.body, ids);
    copy.otherwise = spread(s.otherwise, ids);
    if (!ids.contains(s.id)) {
      out.push_back(std::move(copy));
    } else {
      for (auto* inner : {&copy.body, &copy.otherwise})
        std::move(inner->begin(), inner->end(), std::back_inserter(out));
    }
  }
  return out;
}

// Returns the body of `function`, or of the kernel if `function` is -1.
std::string body_text(const Program& program, const Code& code, int function) {
  const Function* const own = function < 0 ? nullptr : &program.functions[static_cast<std::size_t>(function)];
  const auto starts = [&](int f) {
    const auto i = static_cast<std::size_t>(f);
    return f < 0 ? 0 : i < code.functions.size() ? code.functions[i] : code.lines.size();
  };
  std::string out = "{\n";
  constexpr const char* kTypes[] = {".pred", ".b16", ".b32", ".b64"};
  for (int k = 0; k < 4; ++k) {
    const int count = own == nullptr ? program.registers[k] : own->registers[k];
    if (count > 0) out += fmt::format(".reg {} %{}<{}>;\n", kTypes[k], "phrd"[k], count);
  }
  if (own == nullptr) out += fmt::format(".shared .align 16 .b8 near[{}];\n", program.shared_bytes);
  if (own == nullptr && program.gates > 0) out += fmt::format(".shared .align 8 .b64 gates[{}];\n", program.gates);
  if (own == nullptr || own->has_local) out += fmt::format(".local .align 16 .b8 own[{}];\n", program.local_bytes);
  for (std::size_t i = starts(function); i < starts(function + 1); ++i) {
    const Instruction& in = code.lines[i].code;
    if (in.what == Do::label) out += fmt::format("L{}:\n", in.label);
    if (in.what == Do::open_call) out += scope_text(program.functions[static_cast<std::size_t>(in.function)]);
    if (in.what == Do::close_call) out += "}\n";
    if (!code.lines[i].in_text()) continue;
    if (in.what == Do::branch_by_index)
      out += fmt::format("{}: .branchtargets {};\n", table_name(in), labels_text(in, "L", ", "));
    const std::string operands = in.what == Do::call
                                     ? call_text(program.functions[static_cast<std::size_t>(in.function)], in.function)
                                     : operands_text(in);
    const std::string guard = in.guard < 0 ? "" : fmt::format("@{}%p{} ", in.guard_negated ? "!" : "", in.guard);
    out += fmt::format(".loc 1 {} 1\n{}{}{}{};\n", i + 1, guard, in.text, operands.empty() ? "" : " ", operands);
  }
  return out + "}\n";
}

}  // namespace

Code flatten(const Program& program) { return Flattener().run(program); }

std::string text_of(const Program& program, const Code& code) {
  std::string out = ".version 9.0\n.target sm_90\n.address_size 64\n";
  out += fmt::format(".const .align 16 .b8 table[{}] = {{", program.constants.size());
  for (std::size_t i = 0; i < program.constants.size(); ++i)
    out += (i == 0 ? "" : ",") + std::to_string(program.constants[i]);
  out += "};\n";
  std::set<int> called;
  for (const Line& line : code.lines) {
    if (line.code.what == Do::call) called.insert(line.code.function);
  }
  for (const int f : called) out += prototype(program.functions[static_cast<std::size_t>(f)], f) + ";\n";
  for (const int f : called)
    out += prototype(program.functions[static_cast<std::size_t>(f)], f) + "\n" + body_text(program, code, f);
  out += ".visible .entry random(";
  for (int b = 0; b < kBufferCount; ++b) out += fmt::format("{}.param .u64 {}", b == 0 ? "" : ", ", kBufferNames[b]);
  out += ")\n" + body_text(program, code, -1);
  return out + ".file 1 \"random.cu\"\n";
}

std::vector<int> ids_of(const Program& program, bool within_groups) {
  std::vector<int> out;
  collect(program.statements, within_groups, out);
  for (const Function& function : program.functions) collect(function.statements, within_groups, out);
  return out;
}

std::optional<Program> with_number(const Program& program, int id, std::size_t source) {
  Program out = program;
  Statement* statement = find(out.statements, id);
  for (Function& function : out.functions) {
    if (statement == nullptr) statement = find(function.statements, id);
  }
  if (statement == nullptr || statement->what != Statement::What::code) return {};
  Instruction& in = statement->code;
  if (in.what != Do::form || source >= in.sources.size() || in.form->numbers[source].empty()) return {};
  if (in.sources[source].what != Operand::What::reg) return {};
  in.sources[source] = number(1, in.form->numbers[source]);
  return out;
}

std::size_t instruction_count(const Program& program) {
  std::size_t out = 0;
  for (const Line& line : flatten(program).lines) out += line.in_text();
  return out;
}

Program without(const Program& program, const std::set<int>& ids) {
  Program out = program;
  out.statements = kept(program.statements, ids);
  for (Function& function : out.functions) function.statements = kept(function.statements, ids);
  return out;
}

Program unwrapped(const Program& program, const std::set<int>& ids) {
  Program out = program;
  out.statements = spread(program.statements, ids);
  for (Function& function : out.functions) function.statements = spread(function.statements, ids);
  return out;
}

}  // namespace roofwalk::random
