// A program that misbehaves in the way its first argument names. Compiled once, run inside the sandbox by the tests.
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/netlink.h>
#include <map>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <thread>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

extern char** environ;

static void tell(const std::string& what, long result) {
    std::printf("%s %s\n", what.c_str(), result < 0 ? std::strerror(errno) : "ok");
}

static void fork_bomb() {
    for (;;) fork();
}

// Too many, but no more than a machine can bear.
static void crowd() {
    for (int doubling = 0; doubling < 8; ++doubling) fork();
    for (;;) pause();
}

static void daemonise() {
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;) pause();
        _exit(0);
    }
    usleep(50'000);
}

static void hold(size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(9);
    std::memset(memory, 1, bytes);
}

// Each child stays under any limit for one process; only their sum is too much.
static void memory_in_children() {
    for (int child = 0; child < 8; ++child)
        if (fork() == 0) {
            hold(24u << 20);
            pause();
        }
    pause();
}

static void files_without_end() {
    std::string block(1 << 20, 'x');
    for (int number = 0;; ++number) {
        int file = open(("f" + std::to_string(number)).c_str(), O_CREAT | O_WRONLY, 0644);
        if (write(file, block.data(), block.size()) < 0) _exit(8);
        close(file);
    }
}

static void one_large_file() {
    std::string block(1 << 20, 'x');
    int file = open("large", O_CREAT | O_WRONLY, 0644);
    while (write(file, block.data(), block.size()) > 0) {}
}

static void folders_without_end() {
    while (mkdir("d", 0755) == 0 && chdir("d") == 0) {}
    pause();
}

static void flood() {
    std::string block(1 << 16, 'y');
    for (;;)
        for (int descriptor : {1, 2})
            if (write(descriptor, block.data(), block.size()) < 0) _exit(7);
}

static void connect_to(int port) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr);
    int stream = socket(AF_INET, SOCK_STREAM, 0);
    tell("tcp", stream < 0 ? -1 : connect(stream, reinterpret_cast<sockaddr*>(&place), sizeof place));
    int datagram = socket(AF_INET, SOCK_DGRAM, 0);
    auto address = reinterpret_cast<sockaddr*>(&place);
    tell("udp", datagram < 0 ? -1 : sendto(datagram, "x", 1, 0, address, sizeof place));
    tell("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
    tell("unix", socket(AF_UNIX, SOCK_STREAM, 0));
}

static void read_file(const char* path) {
    char byte;
    int file = open(path, O_RDONLY);
    tell(path, file < 0 ? -1 : read(file, &byte, 1));
}

static void write_file(const char* path) { tell(path, open(path, O_CREAT | O_WRONLY, 0644)); }

static void kill_all(int parent) {
    tell("parent", kill(getppid(), SIGKILL));
    tell("named", kill(parent, SIGKILL));
    tell("init", kill(1, SIGKILL));
    tell("interrupt", kill(1, SIGINT));
    tell("everyone", kill(-1, SIGINT));
    tell("group", kill(-parent, SIGKILL));
    std::fflush(stdout);
    usleep(50'000);
}

static void list_descriptors() {
    for (int number = 0; number < 1024; ++number)
        if (fcntl(number, F_GETFD) >= 0) std::printf("%d ", number);
}

static void list_environment() {
    for (char** entry = environ; *entry; ++entry) std::puts(*entry);
}

static void list_signals() {
    for (int number = 1; number < 32; ++number) {
        struct sigaction action;
        if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) std::printf("%d ", number);
    }
}

static void forbidden_calls() {
    tell("ptrace", ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    tell("unshare", unshare(CLONE_NEWUSER));
    tell("mount", mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
    tell("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    tell("clone3", syscall(SYS_clone3, nullptr, 0));
    tell("keyctl", syscall(SYS_keyctl, 0, -4, 0, 0, 0));
    tell("bpf", syscall(SYS_bpf, 0, nullptr, 0));
    tell("io_uring", syscall(SYS_io_uring_setup, 1, nullptr));
    tell("userfaultfd", syscall(SYS_userfaultfd, 0));
    tell("memfd", memfd_create("x", 0));
    tell("chroot", chroot("."));
    tell("setuid", setuid(1));
    tell("fifo", mkfifo("fifo", 0644));
    tell("device", mknod("device", S_IFBLK | 0644, 0x0800));
}

static void links(const char* target) {
    tell("symbolic", symlink(target, "symbolic"));
    tell("hard", link(target, "hard"));
    char byte;
    int file = open("symbolic", O_RDONLY);
    tell("through", file < 0 ? -1 : read(file, &byte, 1));
}

static void proc_tricks() {
    for (const char* path : {"/proc/self/environ", "/proc/self/root/etc/shadow", "/proc/self/cwd/../../etc/shadow",
                             "/proc/1/environ", "/proc/1/root/etc/shadow", "/proc/sys/kernel/core_pattern", "/dev/mem",
                             "/sys/kernel", "/dev/shm", "/dev/tty"})
        read_file(path);
}

static void echo() {
    char block[4096];
    for (ssize_t size; (size = read(0, block, sizeof block)) > 0;)
        if (write(1, block, size) < 0) _exit(6);
}

int main(int count, char** words) {
    const char* last = words[count - 1];
    const std::map<std::string, void (*)()> plain = {
        {"fork-bomb", fork_bomb},       {"crowd", crowd},
        {"daemon", daemonise},
        {"children", memory_in_children}, {"files", files_without_end},
        {"large-file", one_large_file}, {"folders", folders_without_end},
        {"flood", flood},               {"descriptors", list_descriptors},
        {"environment", list_environment}, {"signals", list_signals},
        {"forbidden", forbidden_calls}, {"proc", proc_tricks},
        {"echo", echo},                 {"abort", std::abort},
    };
    std::string what = words[1];
    if (auto found = plain.find(what); found != plain.end()) found->second();
    else if (what == "connect") connect_to(std::atoi(last));
    else if (what == "read") for (int i = 2; i < count; ++i) read_file(words[i]);
    else if (what == "write") for (int i = 2; i < count; ++i) write_file(words[i]);
    else if (what == "kill") kill_all(std::atoi(last));
    else if (what == "hold") hold(std::strtoull(last, nullptr, 10));
    else if (what == "link") links(last);
    else if (what == "spin") for (;;) {}
    else if (what == "spin-in-thread") std::thread([] { for (volatile int i = 0;; i = i + 1) {} }).join();
    else if (what == "sleep") for (;;) pause();
    else if (what == "segfault") raise(SIGSEGV);
    else if (what == "exit") return std::atoi(last);
    return 0;
}
