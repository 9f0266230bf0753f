// Starts the script, collects what it prints and turns its failure into an Error.
#include "annulus/pipeline/download/download.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <system_error>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/vision/backbone/backbone.h"

extern char** environ;

namespace annulus {
namespace {

struct Outcome {
  int status = 0;  // 0: success
  std::string output;
  std::string errors;
};

// Reads both pipes until the other side closes them, so that neither can fill up and block the script. `tick` is called
// meanwhile.
void drain(int output, int errors, Outcome& outcome, const std::function<void()>& tick) {
  constexpr int kTickMilliseconds = 200;
  std::array<pollfd, 2> pipes = {pollfd{output, POLLIN, 0}, pollfd{errors, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&outcome.output, &outcome.errors};
  std::array<char, 4096> block{};
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    tick();
    const int ready = poll(pipes.data(), pipes.size(), kTickMilliseconds);
    if (ready < 0 && errno != EINTR) return;
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (pipes[i].fd < 0 || pipes[i].revents == 0) continue;
      const ssize_t count = read(pipes[i].fd, block.data(), block.size());
      if (count > 0) {
        texts[i]->append(block.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        pipes[i].fd = -1;
      }
    }
  }
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) fail(ErrorKind::kIo, "could not make a pipe for the fetch script");
  }
  ~Pipe() {
    close_writer();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Ends the script where its output is not waited for any more, and collects its exit code.
class Script {
 public:
  explicit Script(pid_t process) : process_(process) {}
  ~Script() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    wait();
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

 private:
  pid_t process_;
};

Outcome run_script(std::vector<std::string> words, const std::function<void()>& tick) {
  Pipe output;
  Pipe errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.writer(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writer(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failure = posix_spawn(&process, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    fail(ErrorKind::kIo, "could not run {}: {}", words.front(),
         std::error_code(failure, std::generic_category()).message());
  }
  output.close_writer();
  errors.close_writer();
  Script script(process);
  Outcome outcome;
  drain(output.reader(), errors.reader(), outcome, tick);
  outcome.status = script.wait();
  return outcome;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::filesystem::path fetch_script() {
  std::string places;
  for (const auto& folder : share_folders()) {
    const std::filesystem::path script = folder / "fetch";
    std::error_code error;
    if (std::filesystem::is_regular_file(script, error)) return script;
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  fail(ErrorKind::kIo, "expected the fetch script in one of {}, found it nowhere: set ANNULUS_SHARE to its folder",
       places);
}

std::filesystem::path fetch(const std::string& name, const ProgressCallback& progress, const Progress& step) {
  const Outcome outcome = run_script({fetch_script(), name}, [&] { report(progress, step); });
  if (outcome.status != 0) fail(ErrorKind::kIo, "{}", last_line(outcome.errors));
  return last_line(outcome.output);
}

void fetch_onnxruntime(const ProgressCallback& progress) {
  if (!lacks_runtime()) return;
  fetch("onnxruntime", progress, {"download ONNX Runtime", 0, 0, "once, to run backbones; licence MIT"});
}

std::optional<std::filesystem::path> fetched(const std::string& name) {
  const Outcome outcome = run_script({fetch_script(), "--offline", name}, [] {});
  if (outcome.status != 0) return std::nullopt;
  return last_line(outcome.output);
}

}  // namespace annulus
