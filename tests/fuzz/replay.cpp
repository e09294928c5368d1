// replay COUNT FOLDER...: replaces libFuzzer for other compilers. Runs the fuzz target on all files of the folders,
// then on COUNT mutants of these files, which are the same in every run.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr double kMostSeconds = 10;  // per input; longer counts as a hang

void run(const Input& input, const std::string& name) {
  const auto start = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(input.data(), input.size());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (elapsed.count() <= kMostSeconds) return;
  std::fprintf(stderr, "%s takes %.1f s\n", name.c_str(), elapsed.count());
  std::exit(1);
}

// Returns an input with up to four changes: each changes a byte, deletes a range, or inserts a range of another input.
Input mutant(const std::vector<Input>& inputs, roofwalk::Rng& rng) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(rng.next() % limit); };
  Input out = inputs[below(inputs.size())];
  for (std::size_t changes = 1 + below(4); changes > 0 && !out.empty(); --changes) {
    const auto at = out.begin() + static_cast<std::ptrdiff_t>(below(out.size()));
    const auto room = static_cast<std::size_t>(out.end() - at);
    switch (below(3)) {
      case 0:
        *at = static_cast<std::uint8_t>(rng.next());
        break;
      case 1:
        out.erase(at, at + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(room, 40) + 1)));
        break;
      default: {
        const Input& other = inputs[below(inputs.size())];
        const std::size_t from = below(other.size()), count = below(std::min<std::size_t>(other.size() - from, 80) + 1);
        out.insert(at, other.begin() + static_cast<std::ptrdiff_t>(from),
                   other.begin() + static_cast<std::ptrdiff_t>(from + count));
      }
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  constexpr std::size_t kLargest = 10'000;  // larger ones only take longer to mutate
  std::vector<Input> inputs;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    Input input{std::istreambuf_iterator<char>(file), {}};
    run(input, path.string());
    if (!input.empty() && input.size() <= kLargest) inputs.push_back(std::move(input));
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "no seeds\n");
    return 1;
  }
  roofwalk::Rng rng(1, "replay");
  const int mutants = std::atoi(argv[1]);
  for (int i = 0; i < mutants; ++i) run(mutant(inputs, rng), "mutant " + std::to_string(i));
  std::printf("%zu files and %d mutants\n", files.size(), mutants);
}
