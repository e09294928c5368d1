// What one SM asks of L2 in a round, kept until the round is over. So SMs run side by side, and L2 still sees their
// requests in one order: SM by SM, each SM's in the order in which it made them. L2 answers while the SMs play the next
// round: they do not need to know what it says.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/vgpu/memory/cache.h"
#include "common/vgpu/memory/fetch_log.h"
#include "common/vgpu/trace/counters.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

// What a traced request learns of L2.
struct L2Answer {
  WarpTrace* trace = nullptr;
  std::uint32_t outcome = 0;  // of the trace: where it belongs
  std::uint32_t dram_read_sectors = 0, dram_write_sectors = 0;
  Arrival arrives = Arrival::none;  // none: leaves what is there
  Fetch found = {};                 // of a warp of its block, whose sectors it found; without a number: none

  void tell() const;
};

// Of a line: one 32-bit mask a sector.
struct WrittenBytes {
  std::uint32_t of_sector[4] = {0, 0, 0, 0};
};

class L2Log {
 public:
  // The lines of a request, then the request itself.
  void read(std::uint64_t line, unsigned sectors) { lines_.push_back({line, sectors & 0xfu, 0}); }
  void write(std::uint64_t line, const WrittenBytes& bytes);
  void update(std::uint64_t line, unsigned sectors) { read(line, sectors); }
  // `trace`, if not null, gets what the request costs DRAM in its outcome of that number.
  // `arriving`: asks for nothing; its trace learns where the line comes from that its SM fetched in this round.
  enum class Kind : std::uint8_t { load, store, atomic, arriving };
  void end_request(Kind kind, std::uint32_t pc, WarpTrace* trace, std::size_t outcome) {
    if (kind != Kind::arriving) asked_lines_ += lines_.size() - request_begin_;
    request_begin_ = lines_.size();
    requests_.push_back(
        {trace, static_cast<std::uint32_t>(outcome), pc, static_cast<std::uint32_t>(lines_.size()), kind});
  }

  // Long straight code asks for much in one turn: an SM with a full log waits for the next round.
  bool full() const { return lines_.size() >= kMostLines; }

  std::size_t lines() const { return lines_.size(); }
  bool empty() const { return requests_.empty(); }
  std::size_t requests() const { return requests_.size(); }
  // Since the log was empty, but for those that traces ask after.
  std::uint64_t asked_lines() const { return asked_lines_; }

  // Asks L2 for everything and forgets it. `sites` are the launch's, `first_site` is where they lie in `traffic`;
  // `fetches` are L2's. Appends to `answers`. Returns sectors that L2 read from DRAM or owes it.
  std::uint64_t replay(L2Cache& l2, FetchLog& fetches, std::vector<Site>& sites, SiteId first_site,
                       std::vector<SiteTraffic>& traffic, std::vector<L2Answer>& answers);

 private:
  static constexpr std::size_t kMostLines = std::size_t{1} << 17;

  struct Line {
    std::uint64_t line : 59;
    std::uint64_t sectors : 4;
    std::uint64_t partial : 1;  // a store that leaves bytes of its sectors: its masks are the next of partial_
  };
  struct Request {
    WarpTrace* trace = nullptr;
    std::uint32_t outcome = 0, pc = 0;
    std::uint32_t end = 0;  // of its lines
    Kind kind = Kind::load;
  };

  std::size_t request_begin_ = 0;  // of its lines
  std::uint64_t asked_lines_ = 0;
  std::vector<Line> lines_;
  std::vector<WrittenBytes> partial_;
  std::vector<Request> requests_;
};

// What all SMs asked in one round, on its way through L2.
class L2Round {
 public:
  // Of so many SMs.
  L2Round(const Machine& machine, std::size_t sms, L2Cache& l2, std::size_t sites, SiteId first_site,
          std::vector<SiteTraffic>& traffic);
  ~L2Round();

  // What is taken from now on belongs to the next round (FetchLog::begin_round).
  void begin(double cycles) { began_ = cycles; }
  // Takes the log of the next SM, which is empty from then on. Not while L2 answers.
  void take(L2Log& log);
  // L2 answers the first half of the logs, and all that are left; nothing is done where another thread is at it. While
  // SMs play, on any threads: touches L2 and its traffic, nothing else that others see. In halves, so that two threads
  // share L2 evenly as well. Whoever has answered half calls `replay` later: then all is answered when all have.
  void replay_half();
  void replay();
  // The rest, where nobody else is at it for sure.
  void replay_alone();
  // Writes to the traces what L2 has said since the last time. Returns by how many bytes they have grown.
  std::uint64_t tell_traces();

  // What L2 counted so far, by PTX instruction.
  const std::vector<Site>& sites() const { return sites_; }
  // Sectors that it read from DRAM or owes it. Not while L2 answers.
  std::uint64_t dram_sectors() const { return dram_sectors_; }

 private:
  L2Cache& l2_;
  FetchLog fetches_;
  SiteId first_site_;
  std::vector<SiteTraffic>& traffic_;
  std::vector<Site> sites_;
  void replay_to(std::size_t end);

  std::mutex mutex_;  // over what follows, L2 and its traffic
  std::vector<L2Log> logs_;
  double began_ = 0;
  std::uint64_t dram_sectors_ = 0;
  std::size_t taken_ = 0, replayed_ = 0;  // of logs_
  std::vector<L2Answer> answers_;
};

}  // namespace roofwalk::vgpu
