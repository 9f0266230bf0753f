// The flag that signal handlers set, and the last words of a program whose file was cut.
#include "cli/terminal/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "annulus/base/progress.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) { stop_requested = 1; }

void do_nothing(int) {}

// Within a signal handler there is no better way to write, and nothing to do about an error.
void say(std::string_view text) { static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size())); }

void say_what_was_lost(int, siginfo_t* info, void*) {
  constexpr int kSystemError = 5;
  const std::string_view file = mapped_file_at(info->si_addr);
  say("annulus: ");
  say(file.empty() ? "a file that large matrices live in" : file);
  say(": cannot be read any more: it was cut while it was in use, or its disk is full or fails\n");
  ::_exit(kSystemError);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void outlive_readers() {
  // A handler rather than SIG_IGN, which programs started from here would inherit.
  struct sigaction action {};
  action.sa_handler = do_nothing;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
}

void explain_lost_pages() {
  struct sigaction action {};
  action.sa_sigaction = say_what_was_lost;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

bool interrupted() { return stop_requested != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::kCancelled, kStopped);
}

}  // namespace annulus::cli
