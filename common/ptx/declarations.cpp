// Parses everything outside braces except variables: the header, function headers, files.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "common/ptx/names.h"
#include "common/ptx/parser.h"
#include "common/ptx/validate.h"

namespace roofwalk::ptx {
namespace {

constexpr std::size_t kMaxParameterBytes = 32764;
constexpr std::uint64_t kMaxThreads = 1u << 20;
constexpr std::uint64_t kMaxUnsigned = 0xffffffff;

// The functions that compiled code calls to launch kernels from the device. The machine implements them itself, so a
// declaration must have exactly these sizes of result and parameters.
struct Reserved {
  std::string_view name;
  std::uint64_t result_bytes;
  std::initializer_list<std::uint64_t> parameter_bytes;
};
const Reserved kLaunchCalls[] = {{"__cudaCDP2GetParameterBufferV2", 8, {8, 12, 12, 4}},
                                 {"__cudaCDP2LaunchDeviceV2", 4, {8, 8}}};

bool same_shape(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& left, const Variable& right) {
    return left.size_bytes == right.size_bytes && left.align_bytes == right.align_bytes &&
           register_fits(left.type, right.type);
  });
}

}  // namespace

bool Parser::is_reserved(std::string_view name) {
  return name.starts_with("__cudaCDP2") || name.starts_with("roofwalk_") || name == "vprintf" || name == "__assertfail";
}

void Parser::header() {
  if (!take(".version")) refuse(R"(no `.version` at the start: this is not PTX)");
  const std::string_view version = token_.text;
  const std::size_t dot = version.find('.');
  const bool has_shape = token_.kind == Token::Kind::float64 && dot == 1 && version.size() == 3;
  if (!has_shape || version[0] < '6' || version[2] < '0' || version[2] > '9') {
    refuse(fmt::format("PTX version {} is not supported: 6.0 to 9.9 are", in_quotes(version)));
  }
  module_.version_major = version[0] - '0';
  module_.version_minor = version[2] - '0';
  advance();
  target();
  if (take(".address_size")) {
    if (token_.kind != Token::Kind::integer || token_.bits != 64) refuse("only an address size of 64 is supported");
    advance();
  }
}

void Parser::target() {
  if (!take(".target")) refuse_token("`.target`");
  const std::string_view name = token_.kind == Token::Kind::word ? token_.text : "";
  std::string_view digits = name.starts_with("sm_") ? name.substr(3) : "";
  if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
  const bool known = digits.size() >= 2 && digits.size() <= 3 &&
                     std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
                     (digits.size() == 3 || digits >= "75");
  if (!known) refuse(fmt::format("the target {} is not supported: sm_75 and later are", in_quotes(token_.text)));
  module_.target = name;
  advance();
  while (take(',')) {
    if (!take("debug")) refuse_token("`debug`");
  }
}

void Parser::module_item() {
  if (take(".file")) return file_directive();
  if (take(".section")) return debug_section();
  if (take(".pragma")) return pragma();
  Linkage linkage;
  for (;;) {
    if (take(".extern"))
      linkage.is_extern = true;
    else if (take(".visible"))
      linkage.is_visible = true;
    else if (take(".weak"))
      linkage.is_weak = true;
    else
      break;
  }
  if (linkage.is_extern + linkage.is_visible + linkage.is_weak > 1) refuse("more than one of .extern, .visible, .weak");
  if (take(".entry")) return function(linkage, true);
  if (take(".func")) return function(linkage, false);
  if (take(".global")) return module_variable(linkage, Space::global);
  if (take(".const")) return module_variable(linkage, Space::constant);
  if (take(".shared")) return module_variable(linkage, Space::shared);
  if (token_.kind == Token::Kind::dotted) refuse(fmt::format("{} is not supported here", in_quotes(token_.text)));
  refuse_token("a declaration");
}

void Parser::file_directive() {
  const std::uint64_t index = expect_integer("a file number", kMaxUnsigned);
  if (token_.kind != Token::Kind::string) refuse_token("a file name");
  sources_.add_file(index, token_.text);
  advance();
  while (take(',')) expect_integer("a time stamp or size", ~std::uint64_t{0});
}

// Skips DWARF for debuggers. Only its braces matter here.
void Parser::debug_section() {
  if (token_.kind != Token::Kind::dotted || !token_.text.starts_with(".debug_")) refuse_token("a `.debug_` section");
  advance();
  expect('{');
  while (!token_.is('}')) {
    if (token_.kind == Token::Kind::end || token_.is('{')) refuse_token("the end of the section");
    advance();
  }
  advance();
}

void Parser::pragma() {
  do {
    if (token_.kind != Token::Kind::string) refuse_token("a string");
    advance();
  } while (take(','));
  expect(';');
}

void Parser::function(const Linkage& linkage, bool is_entry) {
  Function made;
  made.is_entry = is_entry;
  made.is_visible = linkage.is_visible;
  made.is_weak = linkage.is_weak;
  made.ptx_line = token_.line;
  if (!is_entry && token_.is('(')) parameter_list(made.results);
  made.name = expect_name("a function's name");
  count_symbol();
  if (token_.is('(')) parameter_list(made.parameters);
  if (made.results.size() > 1) refuse("a function with more than one result");
  performance_directives(made);
  const bool is_definition = token_.is('{');
  if (!is_definition) expect(';');
  check_reserved(made, linkage, is_definition);
  if (is_definition && linkage.is_extern) refuse(fmt::format("{} is .extern and has a body", in_quotes(made.name)));
  const auto index = static_cast<std::size_t>(declare_function(made, linkage, is_definition));
  if (!is_definition) return;

  // The body may call all functions declared so far, including this one. body() adds nothing to module_.functions.
  try {
    body(made);
  } catch (const Refusal& refusal) {
    if (!refusal.is_unsupported) throw;
    unsupported_.emplace_back(index, sources_.current());
    made.unsupported = error_of(refusal);
    made.instructions.clear();
    skip_body();
  }
  module_.functions[index] = std::move(made);
  advance();
}

void Parser::parameter_list(std::vector<Variable>& parameters, bool may_be_unnamed) {
  expect('(');
  std::uint64_t total_bytes = 0;
  if (take(')')) return;
  do {
    count_symbol();
    parameters.push_back(parameter(may_be_unnamed));
    total_bytes += parameters.back().size_bytes;
    if (total_bytes > kMaxParameterBytes) refuse(fmt::format("parameters of more than {} bytes", kMaxParameterBytes));
  } while (take(','));
  expect(')');
}

Variable Parser::parameter(bool may_be_unnamed) {
  if (!take(".param"))
    refuse(fmt::format("{} where `.param` is expected: parameters in registers are not supported",
                       in_quotes(token_.text)));
  Variable made = variable(Space::param, may_be_unnamed);
  if (made.size_bytes == 0) refuse(fmt::format("the parameter {} has no size", in_quotes(made.name)));
  return made;
}

void Parser::performance_directives(Function& made) {
  for (;;) {
    if (take(".pragma")) {
      pragma();
    } else if (!made.is_entry) {
      if (!take(".noreturn")) break;
    } else if (take(".maxntid")) {
      thread_counts(made.max_threads);
    } else if (take(".reqntid")) {
      thread_counts(made.required_threads);
    } else if (take(".minnctapersm") || take(".maxnctapersm") || take(".maxnreg")) {
      if (expect_integer("a count", kMaxThreads) == 0) refuse("a count of 0");
    } else {
      break;
    }
  }
  if (made.max_threads[0] != 0 && made.required_threads[0] != 0) refuse("both .maxntid and .reqntid");
  if (token_.kind == Token::Kind::dotted)
    refuse(fmt::format("{} is not supported by the virtual GPU", in_quotes(token_.text)));
}

void Parser::thread_counts(int (&counts)[3]) {
  int given = 0;
  do {
    if (given == 3) refuse("more than three dimensions");
    counts[given++] = static_cast<int>(expect_integer("a number of threads", kMaxThreads));
  } while (take(','));
  std::fill(counts + given, counts + 3, 1);
  if (std::find(counts, counts + 3, 0) != counts + 3) refuse("a block without threads");
}

void Parser::check_reserved(const Function& made, const Linkage& linkage, bool is_definition) const {
  if (!is_reserved(made.name)) return;
  if (is_definition || !linkage.is_extern || made.is_entry) {
    refuse(fmt::format("{} belongs to the machine and cannot be defined", in_quotes(made.name)));
  }
  for (const Reserved& known : kLaunchCalls) {
    if (made.name != known.name) continue;
    const bool same = made.results.size() == 1 && made.results[0].size_bytes == known.result_bytes &&
                      std::equal(made.parameters.begin(), made.parameters.end(), known.parameter_bytes.begin(),
                                 known.parameter_bytes.end(), [](const Variable& parameter, std::uint64_t bytes) {
                                   return parameter.size_bytes == bytes;
                                 });
    if (!same) refuse(fmt::format("{} is declared with other parameters than CUDA's", in_quotes(made.name)));
  }
}

int Parser::declare_function(const Function& made, const Linkage& linkage, bool is_definition) {
  const Symbol* known = symbols_.find(made.name);
  if (known == nullptr) {
    const int index = static_cast<int>(module_.functions.size());
    // The symbol table only views names, and `made` will be moved, so the name is copied.
    Symbol symbol{Symbol::Kind::function};
    symbol.index = index;
    symbols_.declare(symbols_.keep(made.name), symbol);
    module_.functions.push_back(made);
    module_.functions.back().is_extern = !is_definition;
    function_states_.push_back({is_definition, linkage.is_extern});
    return index;
  }
  if (known->kind != Symbol::Kind::function) refuse(fmt::format("{} is declared twice", in_quotes(made.name)));
  const auto index = static_cast<std::size_t>(known->index);
  Function& earlier = module_.functions[index];
  FunctionState& state = function_states_[index];
  if (state.is_defined) refuse(fmt::format("{} is declared again after its body", in_quotes(made.name)));
  if (is_definition && state.is_extern) refuse(fmt::format("{} is .extern and has a body", in_quotes(made.name)));
  if (earlier.is_entry != made.is_entry || !same_shape(earlier.parameters, made.parameters) ||
      !same_shape(earlier.results, made.results)) {
    refuse(fmt::format("{} is declared twice, with different parameters", in_quotes(made.name)));
  }
  if (is_definition) {
    state.is_defined = true;
    earlier.is_extern = false;
  }
  return known->index;
}

}  // namespace roofwalk::ptx
