#include "common/build/diagnostics.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "common/base/demangle.h"
#include "common/build/ptx_lines.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMaxShown = 6;
constexpr std::size_t kMaxLineBytes = 400;
constexpr int kMostSignal = 64;

struct Diagnostic {
  std::string file;  // the compiler's name for it
  int line = 0;      // 0 unknown
  bool is_error = false;
  std::string message;
  std::string advice = {};
};

// Splits into lines and drops control characters, escape sequences and non-ASCII bytes, because a learner's #error
// may contain any bytes.
std::vector<std::string> clean_lines(std::string_view output) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < output.size(); ++i) {
    const char c = output[i];
    if (c == '\n') {
      lines.emplace_back();
    } else if (c == '\x1b' && i + 1 < output.size() && output[i + 1] == '[') {
      i = std::min(output.find_first_not_of("0123456789;?", i + 2), output.size());  // also skips the final letter
    } else if (lines.back().size() < kMaxLineBytes) {
      if (c == '\t') lines.back() += ' ';
      if (c >= ' ' && c <= '~') lines.back() += c;
    }
  }
  return lines;
}

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Splits "error #20-D: text" into severity and text; false if the line is not a diagnostic.
bool split_severity(std::string_view rest, Diagnostic& diagnostic) {
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return false;
  std::string_view severity = rest.substr(0, std::min(rest.find(" #"), colon));
  while (severity.ends_with(' ')) severity.remove_suffix(1);
  const bool known = severity == "warning" || severity == "note" || severity == "remark" || severity.ends_with("error");
  if (!known || severity.size() > 24) return false;
  diagnostic.is_error = severity.ends_with("error");
  diagnostic.message = rest.substr(colon + 2);
  return true;
}

// Parses "kernel.cu(5): error: text", "kernel.cu:5:2: fatal error: text" or "At end of source: error: text"; nullopt
// for any other line.
std::optional<Diagnostic> parse_line(std::string_view line) {
  Diagnostic diagnostic;
  constexpr std::string_view kEnd = "At end of source: ";
  if (line.starts_with(kEnd)) {
    diagnostic.file = kSourceName;
    return split_severity(line.substr(kEnd.size()), diagnostic) ? std::optional(diagnostic) : std::nullopt;
  }
  if (const std::size_t close = line.find("): "); close != std::string_view::npos) {
    const std::size_t open = line.rfind('(', close);
    const auto number =
        open != std::string_view::npos ? number_of(line.substr(open + 1, close - open - 1)) : std::nullopt;
    if (number) {
      diagnostic.file = line.substr(0, open);
      diagnostic.line = *number;
      if (split_severity(line.substr(close + 3), diagnostic)) return diagnostic;
    }
  }
  const std::size_t first = line.find(':');
  const std::size_t second = first != std::string_view::npos ? line.find(':', first + 1) : first;
  const std::size_t third = second != std::string_view::npos ? line.find(": ", second + 1) : second;
  if (third == std::string_view::npos) return std::nullopt;
  const auto number = number_of(line.substr(first + 1, second - first - 1));
  if (!number || !number_of(line.substr(second + 1, third - second - 1))) return std::nullopt;
  diagnostic.file = line.substr(0, first);
  diagnostic.line = *number;
  return split_severity(line.substr(third + 2), diagnostic) ? std::optional(diagnostic) : std::nullopt;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns the number after the last `marker` in the line; 0 if there is none.
int number_after(const std::string& line, std::string_view marker) {
  const std::size_t at = line.rfind(marker);
  if (at == std::string::npos) return 0;
  const std::size_t start = at + marker.size();
  const std::size_t end = std::min(line.find_first_not_of("0123456789", start), line.size());
  return number_of(std::string_view(line).substr(start, end - start)).value_or(0);
}

// Returns a function's name without its return type, template arguments and parameters: "std::vector".
std::string short_name(std::string_view name) {
  name = name.substr(0, name.find_first_of("<("));
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (const std::size_t space = name.rfind(' '); space != std::string_view::npos) name.remove_prefix(space + 1);
  while (name.starts_with(':')) name.remove_prefix(1);
  return std::string(name);
}

std::string advice_for_host_call(const std::string& caller, const std::string& callee) {
  const auto holds = [&callee](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return callee.find(word) != std::string::npos; });
  };
  if (caller != "solve") {
    return "kernels run on the GPU and cannot call host functions; mark a function of your own with __device__";
  }
  if (holds({"lloc", "std::vector", "_ptr", "std::array", "std::string", "new"})) {
    return "SOLVE runs as device code: use scratch<T>(count) for temporary memory";
  }
  if (holds({"Stream", "Event", "Graph"})) {
    return "SOLVE runs as device code: its launches run one after the other, so leave streams, events and graphs out";
  }
  if (holds({"print", "stream", "cout", "puts"})) return "SOLVE runs as device code and prints nothing";
  return "SOLVE runs as device code: it may compute with the sizes, launch kernels, and call cudaMemsetAsync, "
         "cudaMemcpyAsync and scratch<T>(count); mark helper functions of your own with __host__ __device__";
}

// Rewrites `calling a __host__ function("X") from a __global__ function("Y") is not allowed`; false for other messages.
bool rewrite_host_call(Diagnostic& diagnostic) {
  constexpr std::string_view kCall = "calling a __host__ function(\"", kFrom = "\") from a ";
  const std::string& message = diagnostic.message;
  if (!message.starts_with(kCall)) return false;
  const std::size_t from = message.find(kFrom);
  const std::size_t open = from != std::string::npos ? message.find("(\"", from + kFrom.size()) : from;
  if (open == std::string::npos) return false;
  const std::string callee = short_name(std::string_view(message).substr(kCall.size(), from - kCall.size()));
  const std::string caller =
      short_name(std::string_view(message).substr(open + 2, message.find('"', open + 2) - open - 2));
  diagnostic.advice = advice_for_host_call(caller, callee);
  diagnostic.message =
      fmt::format("{} calls {}, which exists on the host only", caller == "solve" ? "SOLVE" : caller, callee);
  return true;
}

// Rewrites `identifier "X" is undefined in device code`; false for other messages.
bool rewrite_host_name(Diagnostic& diagnostic) {
  constexpr std::string_view kName = "identifier \"", kUndefined = "\" is undefined in device code";
  const std::string& message = diagnostic.message;
  if (!message.starts_with(kName) || !message.ends_with(kUndefined)) return false;
  const std::string name =
      short_name(std::string_view(message).substr(kName.size(), message.size() - kName.size() - kUndefined.size()));
  diagnostic.message = fmt::format("{} exists on the host only", name);
  diagnostic.advice = "SOLVE and kernels are device code";
  return true;
}

constexpr const char* kWithoutTime =
    "leave __DATE__, __TIME__ and __TIMESTAMP__ out: what a kernel does may not depend on when it is compiled";

// Rewrites `identifier "roofwalk_time_of_compiling" is undefined`; false for other messages.
bool rewrite_time(Diagnostic& diagnostic) {
  if (!diagnostic.message.starts_with(fmt::format("identifier \"{}\"", kTimeOfCompiling))) return false;
  diagnostic.message = "reads the time of compilation";
  diagnostic.advice = kWithoutTime;
  return true;
}

// Rewrites the error about a marked lambda, for which nvcc recommends a flag that kernel files are compiled without;
// false for other messages.
bool rewrite_marked_lambda(Diagnostic& diagnostic) {
  if (diagnostic.message.starts_with("__host__ or __device__ annotation on lambda requires --extended-lambda")) {
    diagnostic.message = "a lambda is marked with __host__ or __device__";
    diagnostic.advice = "leave the mark out: in SOLVE and in kernels, lambdas are device code without it";
    return true;
  }
  return false;
}

// Adds advice to errors that are due to code written for the host.
void advise_on_host_code(Diagnostic& diagnostic) {
  if (diagnostic.message.starts_with("namespace \"std\" has no member")) {
    diagnostic.advice =
        "the file is device code, without std's containers, streams and clocks: SOLVE takes memory from "
        "scratch<T>(count)";
  } else if (diagnostic.message.ends_with(": No such file or directory")) {
    diagnostic.advice = "a kernel file stands alone; only headers of the CUDA toolkit are there";
  }
}

// Returns the errors, each mapped to the learner's file where possible.
std::vector<Diagnostic> collect_errors(std::string_view output) {
  std::vector<Diagnostic> errors;
  std::set<int> host_lines;  // lines with a host code error: nvcc repeats it for every constructor and destructor
  std::set<int> time_lines;  // lines with an error about the time of compiling
  int included_at = 0;       // the learner's line that includes the header in which gcc found an error
  bool in_error = false;
  for (const std::string& line : clean_lines(output)) {
    if (const int at = number_after(line, "from kernel.cu:"); at > 0) included_at = at;
    auto diagnostic = parse_line(line);
    if (!diagnostic) {
      // The lines after an error in a header name the learner's line that caused it.
      if (in_error && line.ends_with("of kernel.cu") && base_name(errors.back().file) != kSourceName) {
        errors.back().message += fmt::format(" (in {})", base_name(errors.back().file));
        errors.back().file = kSourceName;
        errors.back().line = number_after(line, "at line ");
      }
      continue;
    }
    in_error = diagnostic->is_error;
    if (!in_error) continue;
    if (included_at > 0 && base_name(diagnostic->file) != kSourceName) {
      diagnostic->message += fmt::format(" (in {})", base_name(diagnostic->file));
      diagnostic->file = kSourceName;
      diagnostic->line = included_at;
    }
    const bool time = rewrite_time(*diagnostic);
    const bool host = !time && (rewrite_host_call(*diagnostic) || rewrite_host_name(*diagnostic) ||
                                rewrite_marked_lambda(*diagnostic));
    if (!time && !host) advise_on_host_code(*diagnostic);
    in_error = time ? time_lines.insert(diagnostic->line).second : !host || host_lines.insert(diagnostic->line).second;
    if (in_error) errors.push_back(*std::move(diagnostic));
  }
  return errors;
}

Error compose(const std::vector<Diagnostic>& errors, const std::string& source_path) {
  Error error;
  for (std::size_t i = 0; i < std::min(errors.size(), kMaxShown); ++i) {
    const Diagnostic& diagnostic = errors[i];
    const bool ours = base_name(diagnostic.file) == kSourceName;
    const std::string message =
        ours ? diagnostic.message
             : fmt::format("{} (in {}, line {})", diagnostic.message, base_name(diagnostic.file), diagnostic.line);
    if (i == 0) {
      error.file = source_path;
      error.line = ours ? diagnostic.line : 0;
      error.message = message;
    } else {
      const std::string place =
          ours && diagnostic.line > 0 ? fmt::format("{}:{}", source_path, diagnostic.line) : source_path;
      error.message += fmt::format("\n  {}: {}", place, message);
    }
    if (error.advice.empty()) error.advice = diagnostic.advice;
  }
  if (errors.size() > kMaxShown) error.message += fmt::format("\n  and {} more", errors.size() - kMaxShown);
  return error;
}

bool has_line(const CommandResult& run, std::string_view wanted) {
  const std::vector<std::string> lines = clean_lines(run.output);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.ends_with(wanted); });
}

// Whether the output holds a diagnostic about a place in a file, such as "kernel.cu(5): error" or "kernel.cu:5:2: fatal
// error". With #line, a file can give itself any name, so that such a line may begin and go on as any other one.
bool names_a_place(const CommandResult& run, std::initializer_list<std::string_view> severities) {
  if (run.output_cut) return true;
  const auto is_named = [&](std::string_view severity) {
    for (std::size_t at = run.output.find(severity); at != std::string::npos; at = run.output.find(severity, at + 1)) {
      if (at > 0 && (run.output[at - 1] == ')' || std::isdigit(static_cast<unsigned char>(run.output[at - 1])) != 0))
        return true;
    }
    return false;
  };
  return std::any_of(severities.begin(), severities.end(), is_named);
}

bool names_a_mistake(const CommandResult& run) {
  return names_a_place(run, {": error", ": fatal error", ": catastrophic error"});
}

// Whether all of the output is the compiler's own words, and no text of the file's.
bool is_compilers_own(const CommandResult& run) {
  return !names_a_mistake(run) && !names_a_place(run, {": warning", ": note", ": remark"});
}

// Whether the compiler says that this machine lacks something.
bool blames_machine(const CommandResult& run, std::initializer_list<std::string_view> words) {
  const std::vector<std::string> lines = clean_lines(run.output);
  return is_compilers_own(run) && std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
           const auto ends = [&](std::string_view end) { return line.ends_with(end); };
           return !line.starts_with(' ') && std::any_of(words.begin(), words.end(), ends);
         });
}

// Whether another process ended the compiler or a program that it runs: the system if memory lacks, or whoever ends a
// job. The limits that a file can reach end a compiler in other ways.
bool was_killed(const CommandResult& run) {
  constexpr std::array kSignals = {SIGHUP, SIGINT, SIGKILL, SIGTERM};
  return !run.flooded &&
         (std::any_of(kSignals.begin(), kSignals.end(), [&](int signal) { return run.exit_code == 128 + signal; }) ||
          (is_compilers_own(run) && (has_line(run, ": fatal error: Killed signal terminated program cc1plus") ||
                                     has_line(run, ": fatal error: Terminated signal terminated program cc1plus"))));
}

// Returns what a compiler says that cannot run at all on this machine, whatever it is to compile: it, or a program or
// library that it needs, is missing. nullopt if it can. The shell and the loader end so with 126 and 127.
std::optional<std::string> why_it_cannot_run(const CommandResult& run) {
  const std::vector<std::string> lines = clean_lines(run.output);
  const auto said =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("nvcc fatal "); });
  if (said != lines.end() && is_compilers_own(run)) return *said;
  if (run.exit_code == 126 || run.exit_code == 127) return lines.front();
  return std::nullopt;
}

// Explains an end without a diagnostic: time or memory ran out, or the compiler crashed.
Error explain_end(const CommandResult& run, const std::string& source_path, const char* what, double timeout_s) {
  const auto says = [&run](const char* text) { return run.output.find(text) != std::string::npos; };
  Error error{.message = "", .file = source_path};
  if (run.timed_out) {
    // A file that takes too long to compile would have reached the limit of processor time first, so the file is not to
    // blame.
    return {.message = fmt::format("{} did not end within {:g} s: this machine is too busy", what, timeout_s),
            .advice = "give the same command again when other programs have ended"};
  }
  const Error killed{.message = fmt::format("{} was killed: this machine may lack memory", what),
                     .advice = "give the same command again when other programs have ended, or with fewer --workers"};
  if (was_killed(run)) return killed;
  // A file's own limit is less than any disk that is not full.
  if (blames_machine(run, {": No space left on device", ": Disk quota exceeded"})) {
    return {.message = fmt::format("{} has no space for its files: the disk is full", what),
            .advice = "free some space, and give the same command again"};
  }
  if (blames_machine(run, {": Resource temporarily unavailable", ": Cannot fork", ": Too many open files in system",
                           ": Input/output error", ": Read-only file system", ": Stale file handle"})) {
    return {.message = fmt::format("{} cannot run here: this machine lacks processes or files", what),
            .advice = "give the same command again when other programs have ended, or with fewer --workers"};
  }
  if (run.flooded) {
    error.message = fmt::format("{} wrote endless messages", what);
    error.advice = "look for macros or includes that expand without end";
  } else if (says("File size limit") || run.exit_code == 128 + SIGXFSZ) {
    error.message = fmt::format("{} wrote more than it may", what);
    error.advice = "look for macros or includes that expand without end";
  } else if (says("out of memory") || says("bad_alloc") || says("emory allocation failure") ||
             says("memory exhausted") || says("cannot allocate")) {
    error.message = fmt::format("{} ran out of memory", what);
    error.advice = "look for very large arrays and for templates that expand without end";
  } else if (run.exit_code == 128 + SIGXCPU || says("CPU time limit exceeded")) {
    error.message = fmt::format("{} took more processor time or memory than it may", what);
    error.advice = "look for templates or macros that expand without end, and for very large unrolled loops";
  } else if (run.exit_code > 128 && run.exit_code <= 128 + kMostSignal) {
    error.message = fmt::format("{} crashed (signal {})", what, run.exit_code - 128);
    error.advice = "look for code that is nested very deeply";
  } else if (has_line(run, "Compilation terminated.") &&
             !names_a_mistake(run)) {  // cicc says so at a signal, and behind each of its errors
    return killed;
  } else if (const auto why = why_it_cannot_run(run)) {
    return {.message = fmt::format("{} cannot run here: {}", what, *why), .advice = "run ./roofwalk doctor"};
  } else {
    std::string last;
    for (const std::string& line : clean_lines(run.output)) {
      if (!line.empty() && line != "compilation terminated.") last = line;
    }
    error.message =
        fmt::format("{} failed with exit code {}: {}", what, run.exit_code, last.empty() ? "it gave no message" : last);
    error.advice = "run ./roofwalk doctor";
  }
  return error;
}

}  // namespace

Error explain_nvcc(const CommandResult& run, const std::string& source_path, std::string_view source_text,
                   double timeout_s) {
  const std::vector<Diagnostic> errors = run.timed_out ? std::vector<Diagnostic>() : collect_errors(run.output);
  if (errors.empty()) return explain_end(run, source_path, "nvcc", timeout_s);
  Error error = compose(errors, source_path);
  // Next to a string or in a directive, the name that replaces the macro causes a different error; but nvcc prints the
  // line, and so the name.
  if (error.advice.empty() && run.output.find(kTimeOfCompiling) != std::string::npos) error.advice = kWithoutTime;
  if (source_text.find("roofwalk.cuh") == std::string_view::npos) {
    error.advice = "the file must start with #include <roofwalk.cuh>, which defines SOLVE";
  }
  return error;
}

Error explain_ptxas(const CommandResult& run, const std::string& source_path, std::string_view ptx, double timeout_s) {
  std::vector<Diagnostic> errors;
  for (const std::string& line : clean_lines(run.timed_out ? "" : run.output)) {
    constexpr std::string_view kTool = "ptxas ", kPlace = ", line ";
    // "ptxas kernel.ptx, line 39; error   : text", "ptxas error   : text"
    const std::size_t colon = line.find(" : ");
    if (!line.starts_with(kTool) || colon == std::string::npos) continue;
    // A fatal error without a place is about ptxas itself, not about the file.
    const bool has_place = line.find(kPlace) < colon;
    const bool is_error = line.find("error") < colon || (has_place && line.find("fatal") < colon);
    if (!is_error || line.find("aborted due to errors") != std::string::npos) continue;
    Diagnostic diagnostic{.file = std::string(kSourceName), .is_error = true, .message = line.substr(colon + 3)};
    if (const int ptx_line = number_after(line.substr(0, colon), kPlace); ptx_line > 0) {
      diagnostic.line = source_line_of_ptx_line(ptx, ptx_line);
      diagnostic.message = "ptxas: " + diagnostic.message;
      diagnostic.advice = "nvcc passes inline assembly on unread; what it holds must be PTX";
    }
    errors.push_back(std::move(diagnostic));
  }
  if (errors.empty()) return explain_end(run, source_path, "ptxas", timeout_s);
  return compose(errors, source_path);
}

std::string written_name(const std::string& mangled) {
  // A static kernel is called __nv_static_30__080d48ba_9_kernel_cu_f458d52c__Z3locPKfPfi.
  const std::size_t last = mangled.starts_with("__nv_static_") ? mangled.rfind("_Z") : 0;
  const std::string symbol = mangled.substr(last == std::string::npos ? 0 : last);
  const auto text = demangled(symbol);
  if (!text) return mangled;
  const std::string& name = *text;
  // "void scale<128>(float*, double)": drop the return type and the parameters.
  int depth = 0;
  std::size_t start = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 21, "(anonymous namespace)") == 0) {
      i += 20;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (depth == 0 && name[i] == ' ') {
      start = i + 1;
    } else if (depth == 0 && name[i] == '(') {
      end = i;
      break;
    }
  }
  return name.substr(start, end - start);
}

}  // namespace roofwalk
