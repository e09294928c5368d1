// Runs random programs for any length of time: random_programs [--seconds N] [--count N] [--seed S]; see --help. Exits
// with 1 at the first difference, printing the minimized program.
#include <chrono>
#include <cstdio>
#include <set>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/random/compare.h"

namespace roofwalk::random {
namespace {

void print_refused(const std::vector<Form>& known, const FormChoice& taken) {
  std::set<std::string> texts;
  for (const Form& form : taken.all()) texts.insert(form.text);
  for (const Form& form : known) {
    if (texts.insert(form.text).second) fmt::print("{}\n", form.text);
  }
}

int run(std::uint64_t seed, std::uint64_t count, double seconds, int attempts, bool prints, bool prints_refused) {
  const Machine machine = small_machine();
  const std::vector<Form> all = all_forms();
  const FormChoice forms = accepted(all, machine);
  fmt::print("{} forms of instructions, {} more refused\n", forms.all().size(), all.size() - forms.all().size());
  if (prints_refused) print_refused(all, forms);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t programs = 0, invalid = 0, instructions = 0;
  for (; programs < count && (seconds <= 0 || elapsed() < seconds); ++programs) {
    const Program program = generate(seed + programs, forms);
    if (prints) fmt::print("{}\n", text_of(program, flatten(program)));
    const Verdict verdict = compare(program, machine);
    instructions += verdict.thread_instructions;
    if (verdict.what == Verdict::What::invalid) {
      ++invalid;
      fmt::print("seed {}: the program is not valid: it {}\n", program.seed, verdict.words);
      if (verdict.words != "runs too long") return 1;
    }
    if (verdict.what == Verdict::What::refused) {
      fmt::print("seed {}: refused: {}\n", program.seed, verdict.words);
      return 1;
    }
    if (verdict.what == Verdict::What::differs) {
      fmt::print("seed {}: {}\n", program.seed, verdict.words);
      std::fflush(stdout);
      fmt::print("{}", report(minimized(program, machine, attempts), machine));
      return 1;
    }
  }
  fmt::print("{} programs, {} thread instructions, {} too long, in {:.1f} s: no difference\n", programs, instructions,
             invalid, elapsed());
  return 0;
}

}  // namespace
}  // namespace roofwalk::random

int main(int argc, char** argv) {
  std::uint64_t seed = 1, count = ~0ull;
  double seconds = 0;
  int attempts = 3000;
  bool prints = false, prints_refused = false;
  CLI::App app(
      "Runs random PTX programs on the virtual GPU and on a scalar reference, and compares memory and counts.");
  app.add_option("--seed", seed, "the first program's; each further one has the next");
  app.add_option("--count", count, "programs at most");
  app.add_option("--seconds", seconds, "stop after so long");
  app.add_option("--attempts", attempts, "runs to shrink a program that differs; 0 leaves it as it is");
  app.add_flag("--print", prints, "print each program first");
  app.add_flag("--refused", prints_refused, "print the instructions that the machine does not take");
  CLI11_PARSE(app, argc, argv);
  return roofwalk::random::run(seed, count, seconds, attempts, prints, prints_refused);
}
