// annulus serve when things around it fail: a log that nobody reads, a stop in the middle of requests.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "tests/fixtures/program.h"
#include "tests/fixtures/raw_client.h"

namespace annulus {
namespace {

using server::RawClient;
using server::RawResponse;

// The program, whose log goes into a pipe that the test reads, or does not read, or closes.
class ServingIntoPipe {
 public:
  // `under`: a program that starts it.
  explicit ServingIntoPipe(std::vector<std::string> arguments, const std::vector<std::string>& under = {}) {
    std::array<int, 2> out{};
    std::array<int, 2> log{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(log.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipes");
    log_ = log[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log[1], STDERR_FILENO);
    arguments.insert(arguments.begin(), "serve");
    arguments.insert(arguments.end(), {"--port", "0", "--features-only"});
    std::vector<std::string> command = annulus_command(std::move(arguments));
    command.insert(command.begin(), under.begin(), under.end());
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int error = posix_spawnp(&process_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(log[1]);
    if (error != 0) throw std::runtime_error("cannot start");
    std::string url;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) url += c;
    ::close(out[0]);
    if (url.empty()) throw std::runtime_error("not listening");
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  ~ServingIntoPipe() {
    if (!ended_) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    close_log();
  }
  ServingIntoPipe(const ServingIntoPipe&) = delete;
  ServingIntoPipe& operator=(const ServingIntoPipe&) = delete;

  std::uint16_t port() const { return port_; }
  void close_log() {
    if (log_ >= 0) ::close(std::exchange(log_, -1));
  }
  // What is in the pipe by now.
  std::string read_log() const {
    ::fcntl(log_, F_SETFL, O_NONBLOCK);
    std::string text;
    std::array<char, 4096> some{};
    for (ssize_t size = 0; (size = ::read(log_, some.data(), some.size())) > 0;) {
      text.append(some.data(), static_cast<std::size_t>(size));
    }
    return text;
  }
  void signal(int number) const { ::kill(process_, number); }
  // The exit code, 128 + signal for one that was killed; -1 when it still runs after kPatience.
  int wait() {
    int status = 0;
    const bool ended = server::eventually([&] { return ::waitpid(process_, &status, WNOHANG) == process_; });
    ended_ = ended;
    if (!ended) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = 0;
  int log_ = -1;
  bool ended_ = false;
  std::uint16_t port_ = 0;
};

std::string small_model_file(const Scratch& scratch) {
  const std::string model = scratch / "m.safetensors";
  const Outcome fitted = run_annulus(scratch, quickly({"fit", write_small_features(scratch), "-q", "-o", model}));
  if (fitted.exit_code != 0) throw std::runtime_error(fitted.err);
  return model;
}

TEST(ServeFaults, OutlivesTheReaderOfItsLog) {
  const Scratch scratch;
  ServingIntoPipe serving({small_model_file(scratch)});
  serving.close_log();
  for (int i = 0; i < 20; ++i) {
    RawClient client(serving.port());
    EXPECT_EQ(client.ask("GET", "/v2").status, 200) << i;
  }
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

TEST(ServeFaults, ALogThatNobodyReadsKeepsNobodyWaiting) {
  const Scratch scratch;
  ServingIntoPipe serving({small_model_file(scratch)});
  {
    // Lines of several kilobytes: the pipe is full after a few, what may wait after some more.
    RawClient client(serving.port());
    const std::string path = "/" + std::string(8'000, 'a');
    for (int i = 0; i < 1'000; ++i) ASSERT_EQ(client.ask("GET", path).status, 404) << i;
  }
  // Once somebody reads, the log goes on, and says how many lines are missing.
  std::string log;
  EXPECT_TRUE(server::eventually([&] {
    log += serving.read_log();
    return log.find("\"lines left out\"") != std::string::npos;
  }));
  {
    RawClient client(serving.port());
    for (int i = 0; i < 1'000; ++i) ASSERT_EQ(client.ask("GET", "/" + std::string(8'000, 'b')).status, 404) << i;
  }
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

// Every request that was sent whole before SIGTERM has an answer, on new connections and on old ones.
TEST(ServeFaults, LargeBodiesThatAreAnnouncedDoNotEndAServerOfLittleMemory) {
  if (::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || ::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) {
    GTEST_SKIP() << "a sanitizer takes more addresses than there are";
  }
  const Scratch scratch;
  ServingIntoPipe serving({small_model_file(scratch), "--max-body", "40", "-q", "--threads", "1"},
                          {"prlimit", "--as=1073741824"});
  std::vector<std::unique_ptr<RawClient>> clients;
  const std::string header =
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33000000\r\n\r\n{\"features\"";
  for (int i = 0; i < 300; ++i) {
    clients.push_back(std::make_unique<RawClient>(serving.port()));
    clients.back()->send(header);
  }
  EXPECT_EQ(RawClient(serving.port()).ask("GET", "/v2/health/ready").status, 200);
  // Some of them are sent, as far as the server takes them.
  const std::string part(std::size_t{8} << 20, ' ');
  for (int i = 0; i < 8; ++i) clients[static_cast<std::size_t>(i)]->send(part);
  EXPECT_EQ(RawClient(serving.port()).ask("GET", "/v2/health/ready").status, 200);
  clients.clear();
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

TEST(ServeFaults, SigtermLosesNoRequest) {
  const Scratch scratch;
  const std::string model = small_model_file(scratch);
  constexpr int kClients = 16;
  for (const bool keep : {false, true}) {
    for (int round = 0; round < 3; ++round) {
      ServingIntoPipe serving({model, "-q"});
      std::atomic<bool> signalled{false};
      std::atomic<int> answered{0};
      std::atomic<int> lost{0};
      std::vector<std::thread> clients;
      for (int c = 0; c < kClients; ++c) {
        clients.emplace_back([&] {
          std::unique_ptr<RawClient> client;
          while (true) {
            try {
              if (!client || !keep) client = std::make_unique<RawClient>(serving.port());
            } catch (const std::runtime_error&) {
              return;  // refused: nothing was sent
            }
            client->send_request("GET", "/v2");
            const bool before = !signalled;
            const RawResponse answer = client->read();
            if (answer.status == 200) {
              ++answered;
              if (answer.value("Connection") == "close") client.reset();
            } else {
              if (before) ++lost;
              client.reset();
            }
          }
        });
      }
      EXPECT_TRUE(server::eventually([&] { return answered > 200; }));
      signalled = true;
      serving.signal(SIGTERM);
      EXPECT_EQ(serving.wait(), 0);
      for (std::thread& client : clients) client.join();
      EXPECT_EQ(lost, 0) << (keep ? "kept" : "fresh") << " connections, " << answered << " answered";
    }
  }
}

}  // namespace
}  // namespace annulus
