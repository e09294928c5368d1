#include "common/store/store.h"
#include "common/base/json.h"
#include "common/store/stored_attempt.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  StoreTest() { fs::create_directories(folder_); }
  ~StoreTest() override { fs::remove_all(folder_); }

  Store open() {
    auto store = Store::open(file_);
    EXPECT_TRUE(store.ok()) << store.error().text();
    return *std::move(store);
  }

  static StoredAttempt attempt(int number, bool is_starter = false) {
    return {.chapter = "vector-add",
            .device = "virtual:classroom",
            .created_at = "2026-01-02T03:04:05Z",
            .source_sha256 = "abc",
            .is_starter = is_starter,
            .attempt = Json{{"number", number}}};
  }

  static std::int64_t add(Store& store, const StoredAttempt& attempt) {
    const auto id = store.add(attempt);
    EXPECT_TRUE(id.ok()) << id.error().text();
    return id.ok() ? *id : -1;
  }

  static std::vector<int> numbers(const Store& store, const std::string& chapter = "vector-add",
                                  const std::string& device = "virtual:classroom") {
    const auto walk = store.walk(chapter, device);
    EXPECT_TRUE(walk.ok()) << walk.error().text();
    std::vector<int> numbers;
    for (const StoredAttempt& one : *walk) numbers.push_back(one.attempt["number"].get<int>());
    return numbers;
  }

  // Runs SQL directly on the file, with the store's settings. Returns SQLite's error message; empty on success.
  std::string run_sql(const std::string& sql) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    sqlite3_exec(database, ("PRAGMA recursive_triggers = ON; PRAGMA foreign_keys = ON;" + sql).c_str(), nullptr,
                 nullptr, &message);
    const std::string text = message != nullptr ? message : "";
    sqlite3_free(message);
    sqlite3_close(database);
    return text;
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofwalk-store-" + std::to_string(::getpid()));
  fs::path file_ = folder_ / "my" / "roofwalk.db";
};

std::string contents_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

TEST_F(StoreTest, AttemptsComeBackWholeAfterReopening) {
  {
    Store store = open();
    StoredAttempt one = attempt(1);
    one.attempt = Json{{"z", 1}, {"a", "\"quoted\" and \xc3\xa9"}, {"x", 0.1}};
    EXPECT_EQ(add(store, one), 1);
  }
  const auto walk = open().walk("vector-add", "virtual:classroom");
  ASSERT_TRUE(walk.ok());
  ASSERT_EQ(walk->size(), 1u);
  const StoredAttempt& one = walk->front();
  EXPECT_EQ(one.id, 1);
  EXPECT_EQ(one.chapter, "vector-add");
  EXPECT_EQ(one.device, "virtual:classroom");
  EXPECT_EQ(one.created_at, "2026-01-02T03:04:05Z");
  EXPECT_EQ(one.source_sha256, "abc");
  EXPECT_FALSE(one.is_starter);
  EXPECT_EQ(json_line(one.attempt),
            "{\"z\":1,\"a\":\"\\\"quoted\\\" and \xc3\xa9\",\"x\":0.1}");  // keys keep their order
}

TEST_F(StoreTest, AWalkIsOfOneChapterAndDeviceInOrderWithoutStarters) {
  Store store = open();
  StoredAttempt other_chapter = attempt(4), other_device = attempt(5);
  other_chapter.chapter = "naive-gemm";
  other_device.device = "virtual:h100-sxm";
  for (const StoredAttempt& one : {attempt(3), attempt(0, true), attempt(1), other_chapter, other_device, attempt(2)}) {
    add(store, one);
  }
  EXPECT_EQ(numbers(store), (std::vector{3, 1, 2}));
  EXPECT_EQ(numbers(store, "naive-gemm"), std::vector{4});
  EXPECT_EQ(numbers(store, "vector-add", "virtual:h100-sxm"), std::vector{5});
  EXPECT_EQ(numbers(store, "none"), std::vector<int>());
}

TEST_F(StoreTest, ANewWalkForgetsOneChapterAndLosesNoRow) {
  Store store = open();
  add(store, attempt(1));
  StoredAttempt other = attempt(7);
  other.chapter = "naive-gemm";
  add(store, other);
  ASSERT_TRUE(store.start_new_walk("vector-add").ok());
  EXPECT_EQ(numbers(store), std::vector<int>());
  EXPECT_EQ(numbers(store, "naive-gemm"), std::vector{7});
  EXPECT_EQ(add(store, attempt(2)), 3);  // both earlier rows are kept
  EXPECT_EQ(numbers(store), std::vector{2});
}

TEST_F(StoreTest, AMissingTimeIsFilledIn) {
  Store store = open();
  StoredAttempt one = attempt(1);
  one.created_at.clear();
  add(store, one);
  EXPECT_THAT(store.walk("vector-add", "virtual:classroom")->front().created_at,
              testing::MatchesRegex("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z"));
}

TEST_F(StoreTest, BytesThatAreNoUtf8DoNotLoseAnAttempt) {
  Store store = open();
  StoredAttempt one = attempt(1);
  one.attempt = Json{{"path", "my/\xff.cu"}};
  add(store, one);
  EXPECT_EQ(store.walk("vector-add", "virtual:classroom")->front().attempt["path"], "my/\xef\xbf\xbd.cu");
}

TEST_F(StoreTest, CachedValuesAreReplacedAndKept) {
  {
    Store store = open();
    EXPECT_EQ(store.cached("key"), std::nullopt);
    ASSERT_TRUE(store.cache("key", "old").ok());
    ASSERT_TRUE(store.cache("key", std::string("a\0b", 3)).ok());
    ASSERT_TRUE(store.cache("empty", "").ok());
  }
  EXPECT_EQ(open().cached("key"), std::string("a\0b", 3));
  EXPECT_EQ(open().cached("empty"), "");
}

TEST_F(StoreTest, NothingRecordedCanBeChanged) {
  {
    Store store = open();
    add(store, attempt(1));
  }
  for (const char* sql : {"UPDATE attempts SET attempt = '{}'", "UPDATE walks SET chapter = 'x'"}) {
    EXPECT_THAT(run_sql(sql), HasSubstr("never changed")) << sql;
  }
  for (const char* sql : {"DELETE FROM attempts", "DELETE FROM walks",
                          "INSERT OR REPLACE INTO attempts SELECT id, walk, 'x', device, created_at, source_sha256, "
                          "is_starter, attempt FROM attempts",
                          "INSERT OR REPLACE INTO walks VALUES (1, 'x', 'y')"}) {
    EXPECT_THAT(run_sql(sql), HasSubstr("never deleted")) << sql;
  }
  EXPECT_EQ(numbers(open()), std::vector{1});
}

TEST_F(StoreTest, RowsMustBeSane) {
  { open(); }
  constexpr const char* kInsert =
      "INSERT INTO attempts (walk, chapter, device, created_at, source_sha256, is_starter, attempt) VALUES ";
  EXPECT_THAT(run_sql(std::string(kInsert) + "(99, 'c', 'd', 't', 's', 0, '{}')"), HasSubstr("FOREIGN KEY"));
  EXPECT_THAT(run_sql(std::string(kInsert) + "(99, 'c', 'd', 't', 's', 2, '{}')"), HasSubstr("CHECK"));
  EXPECT_THAT(run_sql(std::string(kInsert) + "(99, 'c', 'd', 't', 's', 0, '{')"), HasSubstr("CHECK"));
}

TEST_F(StoreTest, ADamagedFileIsKeptAndNamedAndTheNextOpenStartsAnew) {
  for (int round = 1; round <= 2; ++round) {
    const std::string garbage = "this is not a database, round " + std::to_string(round) + std::string(4096, 'x');
    fs::create_directories(file_.parent_path());
    fs::remove(file_);
    std::ofstream(file_) << garbage;
    const auto store = Store::open(file_);
    ASSERT_FALSE(store.ok());
    const fs::path kept = file_.string() + ".corrupt-" + std::to_string(round);
    EXPECT_THAT(store.error().message, HasSubstr(kept.string()));
    EXPECT_EQ(contents_of(kept), garbage);
    Store fresh = open();
    EXPECT_EQ(numbers(fresh), std::vector<int>());
    EXPECT_EQ(add(fresh, attempt(round)), 1);
  }
}

TEST_F(StoreTest, AFileCutShortIsKeptAsWell) {
  {
    Store store = open();
    for (int i = 0; i < 50; ++i) add(store, attempt(i));
  }
  fs::resize_file(file_, fs::file_size(file_) / 2);
  const auto store = Store::open(file_);
  ASSERT_FALSE(store.ok());
  EXPECT_TRUE(fs::exists(file_.string() + ".corrupt-1")) << store.error().text();
}

TEST_F(StoreTest, HistoryReachesBackBeyondAReset) {
  Store store = open();
  add(store, attempt(1, true));
  add(store, attempt(2));
  ASSERT_TRUE(store.start_new_walk("vector-add"));
  add(store, attempt(3));
  const auto history = store.history("vector-add", "virtual:classroom");
  ASSERT_TRUE(history) << history.error().text();
  ASSERT_EQ(history->size(), 3u);
  EXPECT_TRUE((*history)[0].is_starter);
  EXPECT_FALSE((*history)[1].is_in_walk);
  EXPECT_TRUE((*history)[2].is_in_walk);
  EXPECT_EQ((*history)[2].attempt["number"], 3);
  EXPECT_TRUE(store.history("vector-add", "virtual:other")->empty());
}

TEST_F(StoreTest, NotesStay) {
  {
    Store store = open();
    EXPECT_EQ(store.note("prediction"), std::nullopt);
    ASSERT_TRUE(store.set_note("prediction", "right"));
    ASSERT_TRUE(store.set_note("prediction", "up"));
  }
  EXPECT_EQ(open().note("prediction"), "up");
}

TEST_F(StoreTest, ARecordOfTheFirstSchemaIsBroughtUpToDate) {
  {
    Store store = open();
    add(store, attempt(1));
  }
  EXPECT_EQ(run_sql("DROP TABLE notes; DROP INDEX attempts_by_chapter; "
                    "CREATE INDEX attempts_by_walk ON attempts (walk, device, id); PRAGMA user_version = 1"),
            "");
  Store store = open();
  EXPECT_EQ(numbers(store), std::vector<int>({1}));
  EXPECT_TRUE(store.set_note("prediction", "up"));
  EXPECT_EQ(add(store, attempt(2)), 2);
}

TEST_F(StoreTest, ANewerSchemaIsLeftAlone) {
  { open(); }
  EXPECT_EQ(run_sql("PRAGMA user_version = 3"), "");
  const auto store = Store::open(file_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("newer roofwalk"));
  EXPECT_TRUE(fs::exists(file_));
}

TEST_F(StoreTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  fs::create_directories(file_.parent_path());
  EXPECT_EQ(run_sql("CREATE TABLE theirs (x)"), "");
  const auto store = Store::open(file_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("some other program"));
  EXPECT_TRUE(fs::exists(file_));
}

TEST_F(StoreTest, AFolderInItsPlaceIsAnError) {
  fs::create_directories(file_);
  const auto store = Store::open(file_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().text(), HasSubstr(file_.string()));
}

// Runs `work` in a process of its own and returns its process id.
template <class Work>
pid_t start_process(Work work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    work();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  return pid;
}

TEST_F(StoreTest, ProcessesThatStartAtOnceShareOneFile) {
  constexpr int kProcesses = 3, kEach = 20;
  std::vector<pid_t> pids;
  for (int p = 0; p < kProcesses; ++p) {
    pids.push_back(start_process([this, p] {
      for (int i = 0; i < kEach; ++i) {
        Store store = open();  // opened anew each time, because creating and opening may race, too
        add(store, attempt(p * kEach + i));
      }
    }));
  }
  for (const pid_t pid : pids) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  const std::vector<int> all = numbers(open());
  EXPECT_EQ(all.size(), std::size_t{kProcesses * kEach});
  EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), all.size());
}

// All ids that the killed process received must be in the file, and the file must be intact.
TEST_F(StoreTest, KillingTheWriterLosesNothingThatWasAcknowledged) {
  std::size_t acknowledged = 0;
  for (int round = 0; round < 5; ++round) {
    int fds[2];
    ASSERT_EQ(::pipe(fds), 0);
    const pid_t pid = start_process([&] {
      Store store = open();
      while (true) {
        const std::int64_t id = add(store, attempt(round));
        if (::write(fds[1], &id, sizeof id) != sizeof id) return;
      }
    });
    ::close(fds[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 13 * round));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    std::int64_t id = 0;
    while (::read(fds[0], &id, sizeof id) == sizeof id) acknowledged = static_cast<std::size_t>(id);
    ::close(fds[0]);
    EXPECT_GE(numbers(open()).size(), acknowledged);
  }
  EXPECT_GT(acknowledged, 0u);
  EXPECT_EQ(run_sql("SELECT CASE WHEN (SELECT * FROM pragma_integrity_check) = 'ok' THEN 1 ELSE json('no') END"), "");
}

TEST(Store, InMemoryHoldsAttemptsUntilItsEnd) {
  auto store = Store::in_memory();
  ASSERT_TRUE(store.ok()) << store.error().text();
  StoredAttempt attempt;
  attempt.chapter = "vector-add";
  attempt.device = "virtual:classroom";
  attempt.attempt = Json{{"verdict", "pass"}};
  ASSERT_TRUE(store->add(attempt).ok());
  EXPECT_EQ(store->walk("vector-add", "virtual:classroom")->size(), 1u);
  EXPECT_TRUE(Store::in_memory()->walk("vector-add", "virtual:classroom")->empty());
}

}  // namespace
}  // namespace roofwalk
