/* Shared by the files of the simulated Linux only. */
#ifndef ORCHARD_UNITS_CPU_CPU_SYSTEM_INTERNAL_H
#define ORCHARD_UNITS_CPU_CPU_SYSTEM_INTERNAL_H

#include "units/cpu/cpu_sandbox.h"
#include "units/cpu/cpu_system.h"

enum { CPU_SIGNALS = 64, CPU_FILES_MOST = 1024, CPU_TIMERS_MOST = 32, CPU_TIMERS_INTERVAL = 3 };
enum { CPU_PROCESS_ID = 1000, CPU_USER_ID = 1000 };
#define CPU_NEVER UINT64_MAX

/* ---- threads ---- */

enum cpu_wait_kind { CPU_WAIT_NONE, CPU_WAIT_FUTEX, CPU_WAIT_LOCK, CPU_WAIT_FILE, CPU_WAIT_TIME, CPU_WAIT_SIGNAL };

/* What a thread waits for. */
struct cpu_wait {
    enum cpu_wait_kind kind;
    uint64_t key;         /* futex or lock: its address */
    uint32_t bitset;      /* futex */
    uint64_t deadline_ns; /* CPU_NEVER = none */
    int64_t late;         /* what the call returns at the deadline */
    bool again;           /* the call is made again when there is news, and at the deadline */
};

struct cpu_signal {
    int32_t code;   /* si_code */
    uint64_t value; /* address of a fault, or sender and value of others */
};

enum cpu_thread_state { CPU_THREAD_READY, CPU_THREAD_RUNS, CPU_THREAD_WAITS, CPU_THREAD_ENDED };

struct cpu_thread {
    int id;
    enum cpu_thread_state state;
    struct cpu_context context; /* when it does not run */
    uint64_t ready_ns, turn;    /* since when it is ready, and the order of those */
    unsigned core;              /* that it runs on, or ran on last */
    struct cpu_wait wait;
    bool repeats;           /* the coming call is one made again: its deadline is that of `wait` */
    bool restores;          /* the next handler finds saved_mask in its frame (sigsuspend) */
    uint64_t clear_id;      /* address that is cleared when it ends; 0 = none */
    uint64_t robust;        /* list of futexes that it may hold; 0 = none */
    uint64_t mask, pending; /* signals, bit n - 1 */
    uint64_t saved_mask;
    struct cpu_signal info[CPU_SIGNALS];
    uint64_t stack, stack_bytes; /* of signal handlers; 0 = none */
    char name[16];               /* as prctl tells; empty: that of the program */
    uint64_t cores;              /* that it asked for (sched_setaffinity); 0 = all */
    void *unit;                  /* of the caller: its state of the coprocessor */
};

/* ---- files ---- */

enum cpu_file_kind {
    CPU_FILE_INPUT,  /* standard input */
    CPU_FILE_OUTPUT, /* the program's output */
    CPU_FILE_HOST,   /* a regular file of a mount */
    CPU_FILE_FOLDER, /* a folder of a mount */
    CPU_FILE_WAY,    /* a folder that leads to mounts */
    CPU_FILE_ZERO,   /* /dev/zero */
    CPU_FILE_NULL,   /* /dev/null */
    CPU_FILE_RANDOM, /* /dev/urandom */
    CPU_FILE_READER, /* the ends of a pipe */
    CPU_FILE_WRITER,
    CPU_FILE_PAIR,  /* one of two sockets */
    CPU_FILE_EVENT, /* eventfd */
    CPU_FILE_TIMER, /* timerfd */
    CPU_FILE_POLL   /* epoll */
};

struct cpu_pipe {
    uint8_t bytes[65536];
    size_t first, used;
    unsigned readers, writers;
};

struct cpu_poll_entry {
    int fd;
    uint32_t events;
    uint64_t data;
};

struct cpu_file {
    enum cpu_file_kind kind;
    unsigned refs;
    int host;                    /* descriptor of the host; -1 = none */
    int stream;                  /* of OUTPUT: 1 or 2 */
    uint32_t flags;              /* as F_GETFL tells */
    uint64_t at;                 /* position in standard input or a folder; count of an event or timer */
    char *path;                  /* of the program */
    struct cpu_pipe *pipe, *out; /* out: of a socket, what it writes; NULL after a shutdown */
    bool in_memory, mapped;      /* of the host's memory (memfd_create); it was mapped as shared */
    char **entry;                /* of a folder: type, then name; sorted */
    size_t entries;
    struct cpu_poll_entry *poll;
    size_t polls;
};

struct cpu_descriptor {
    struct cpu_file *file; /* NULL = closed */
    bool close_on_exec;
};

/* A mapping whose contents go back to its file. */
struct cpu_shared {
    struct cpu_file *file;
    uint64_t addr, bytes, offset;
};

/* ---- the system ---- */

struct cpu_action {
    uint64_t handler, flags, restorer, mask;
};

struct cpu_timer {
    bool used;
    uint64_t due_ns, period_ns; /* due_ns CPU_NEVER = not armed */
    int signal;                 /* 0 = none */
    int thread;                 /* it is for; 0 = any */
    uint64_t value;
    struct cpu_file *file; /* that counts how often it was due (timerfd), a reference; NULL = none */
};

struct cpu_linux {
    struct mem_space *space;
    struct cpu_linux_params params;
    struct cpu_system hook;
    uint64_t brk, heap_mapped; /* current break; end of the pages mapped for it */
    uint64_t mmap_hint;        /* pages above are mostly in use: the search for free ones starts here */
    uint8_t *owned;            /* by page: handed out by mmap, even without permissions */
    uint64_t random_state;
    uint64_t slept_ns;

    struct cpu_thread **thread;
    unsigned threads, alive, thread_capacity;
    uint64_t turns;
    bool woke;                              /* a call has woken a thread, which may find a core idle */
    struct cpu_core *core[CPU_LINUX_CORES]; /* those that run threads; none when a single core was never announced */
    struct cpu_thread *on[CPU_LINUX_CORES]; /* NULL = idle */
    unsigned cores;

    struct cpu_action action[CPU_SIGNALS];
    uint64_t pending; /* for the process: any thread may take them */
    struct cpu_signal info[CPU_SIGNALS];
    bool news;            /* some thread may have a signal to take */
    bool ended;           /* by exit, a call or a signal: no handler takes the fault that tells so */
    uint64_t return_code; /* address of the code that returns from handlers; 0 = not made yet */
    struct cpu_timer timer[CPU_TIMERS_INTERVAL + CPU_TIMERS_MOST]; /* those of setitimer first */

    struct cpu_sandbox *sandbox;
    struct cpu_descriptor fd[CPU_FILES_MOST];
    struct cpu_shared *shared;
    size_t shares, share_capacity;
    char folder[CPU_PATH_BYTES]; /* working directory */
    uint32_t umask;
    bool stuck;  /* the only thread waits for what never comes */
    bool missed; /* a file was asked for that no mount has */
    char missing[CPU_PATH_BYTES];
};

/* A call that is being handled. */
struct cpu_linux_call {
    struct cpu_linux *system;
    struct cpu_core *core;
    struct cpu_thread *thread;
    const char *name;
    uint64_t arg[6];
    bool stop; /* the program ends: by exit (exit_code) or by a fault */
    bool kept; /* registers are as they shall be: there is no result */
    int exit_code;
    struct unit_fault *fault;
};

/* The handlers of all calls. Each returns what goes to x0: a value, or a negated errno of Linux. */
#define CALL(number, name, handler) int64_t handler(struct cpu_linux_call *c);
#include "units/cpu/cpu_system_calls.inc"
#undef CALL

/* The program's memory as the host sees it, NULL where the program may not read. */
const uint8_t *cpu_linux_readable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes);
/* The same for writing; code that was there is forgotten. */
uint8_t *cpu_linux_writable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes);
/* Copies at least one byte to the program's memory, or from it. Returns 0 or -L_EFAULT. */
int64_t cpu_linux_give(const struct cpu_linux_call *c, uint64_t addr, const void *from, size_t bytes);
int64_t cpu_linux_take(const struct cpu_linux_call *c, uint64_t addr, void *to, size_t bytes);
/* Reads a path of the program. Returns 0, -L_EFAULT or -L_ENAMETOOLONG. */
int64_t cpu_linux_take_text(const struct cpu_linux_call *c, uint64_t addr, char text[CPU_PATH_BYTES]);
/* The program's time: that of its core plus what it slept. */
uint64_t cpu_linux_now_ns(const struct cpu_linux_call *c);
/* Ends the program because it asks for what is not modelled. */
int64_t cpu_linux_refuse(struct cpu_linux_call *c, const char *why);

/* cpu_system_anonymous.c */
void cpu_linux_pair_drop(struct cpu_file *file);
/* Returns 0, or -L_EFBIG when so many bytes from `at` (-1: the position) on do not fit a file in memory. */
int64_t cpu_linux_fits_memory(const struct cpu_file *file, int64_t at, uint64_t bytes);
/* Called before a file is mapped as shared. */
int64_t cpu_linux_map_memory(struct cpu_linux_call *c, struct cpu_file *file);

/* cpu_system_threads.c */
struct cpu_thread *cpu_linux_thread_of(struct cpu_linux *l, const struct cpu_core *core);
struct cpu_thread *cpu_linux_thread(const struct cpu_linux *l, int id); /* alive; NULL = none */
struct cpu_thread *cpu_linux_add_thread(struct cpu_linux *l);           /* NULL: memory is out */
void cpu_linux_wake(struct cpu_linux *l, struct cpu_thread *t, uint64_t now_ns, int64_t result);
/* Waits, and returns what the call returns if it is over at once. */
int64_t cpu_linux_wait(struct cpu_linux_call *c, const struct cpu_wait *wait);
/* The deadline of a call that may be one made again. */
uint64_t cpu_linux_deadline(const struct cpu_linux_call *c, uint64_t from_now_ns);
/* Wakes who waits for files. */
void cpu_linux_file_news(struct cpu_linux *l, uint64_t now_ns);
/* cpu_system_futex.c: wakes up to `count` threads; returns how many. */
unsigned cpu_linux_futex_wake(struct cpu_linux *l, uint64_t addr, uint64_t count, uint32_t bitset, uint64_t now_ns);

/* The time of a wait in nanoseconds of the program; `wall`: it counts from 1970. Returns 0 or an error. */
int64_t cpu_linux_futex_deadline(const struct cpu_linux_call *c, bool absolute, bool wall, uint64_t *deadline_ns);
/* cpu_system_futex_lock.c */
int64_t cpu_linux_futex_lock(struct cpu_linux_call *c, bool wall);
int64_t cpu_linux_futex_try_lock(struct cpu_linux_call *c);
int64_t cpu_linux_futex_unlock(struct cpu_linux_call *c);
/* Gives a lock to who waits for it longest, or frees it; `died`: since its owner ended. */
int64_t cpu_linux_futex_hand_over(struct cpu_linux_call *c, uint64_t addr, bool died);

/* cpu_system_signal.c */
const char *cpu_linux_signal_name(int signal);
/* Sends a signal to a thread, or to the process (NULL). */
void cpu_linux_post(struct cpu_linux *l, struct cpu_thread *t, int signal, const struct cpu_signal *info, uint64_t now_ns);
/* Lets a handler run if there is a signal for the thread of this core. False: *fault is filled. */
bool cpu_linux_take_signals(struct cpu_linux *l, struct cpu_core *core, struct cpu_thread *t, struct unit_fault *fault);
/* cpu_system_timers.c: sends what is due. False: *fault is filled. */
bool cpu_linux_fire_timers(struct cpu_linux *l, uint64_t now_ns, struct unit_fault *fault);
uint64_t cpu_linux_next_timer(const struct cpu_linux *l);
/* The same without those that only files tell of (timerfd). */
uint64_t cpu_linux_next_signal(const struct cpu_linux *l);
void cpu_linux_timers_end(struct cpu_linux *l);

/* cpu_system_files.c and its neighbours */
bool cpu_linux_files_begin(struct cpu_linux *l);
void cpu_linux_files_end(struct cpu_linux *l);
struct cpu_file *cpu_linux_file(const struct cpu_linux *l, uint64_t fd); /* NULL = closed */
/* Gives a file the lowest free number from `least` on; the file is closed when there is none. Returns the number or an error. */
int64_t cpu_linux_file_add(struct cpu_linux *l, struct cpu_file *file, unsigned least, bool close_on_exec);
struct cpu_file *cpu_linux_file_make(enum cpu_file_kind kind, const char *path); /* NULL: memory is out */
void cpu_linux_file_drop(struct cpu_file *file);
/* What poll tells of a file now. */
uint32_t cpu_linux_file_events(const struct cpu_linux *l, const struct cpu_file *file);
int64_t cpu_linux_pipe_read(struct cpu_linux_call *c, struct cpu_file *f, uint8_t *to, uint64_t bytes);
int64_t cpu_linux_pipe_write(struct cpu_linux_call *c, struct cpu_file *f, const uint8_t *from, uint64_t bytes);
/* Reads from a file at a position, or where it stands (-1). */
int64_t cpu_linux_file_read(struct cpu_linux_call *c, struct cpu_file *f, uint8_t *to, uint64_t bytes, int64_t at);
int64_t cpu_linux_file_write(struct cpu_linux_call *c, struct cpu_file *f, const uint8_t *from, uint64_t bytes, int64_t at);
/* The path that a call means by a folder and a text. */
int64_t cpu_linux_path(const struct cpu_linux_call *c, uint64_t folder, uint64_t addr, char path[CPU_PATH_BYTES]);

/* cpu_system_shared.c: remembers a mapping; writes back what lies in a range, and forgets it when that goes away. */
int64_t cpu_linux_share(struct cpu_linux *l, struct cpu_file *file, uint64_t addr, uint64_t bytes, uint64_t offset);
void cpu_linux_write_back(struct cpu_linux *l, uint64_t addr, uint64_t bytes, bool forget);

/* Errors of Linux on AArch64 (asm-generic/errno-base.h), written out because the host's may differ. */
enum {
    L_EPERM = 1,
    L_ENOENT = 2,
    L_ESRCH = 3,
    L_EINTR = 4,
    L_EIO = 5,
    L_EBADF = 9,
    L_EAGAIN = 11,
    L_ENOMEM = 12,
    L_EACCES = 13,
    L_EFAULT = 14,
    L_EBUSY = 16,
    L_EEXIST = 17,
    L_EXDEV = 18,
    L_ENODEV = 19,
    L_ENOTDIR = 20,
    L_EISDIR = 21,
    L_EINVAL = 22,
    L_EMFILE = 24,
    L_ENOTTY = 25,
    L_ESPIPE = 29,
    L_EROFS = 30,
    L_EPIPE = 32,
    L_ERANGE = 34,
    L_EDEADLK = 35,
    L_ENAMETOOLONG = 36,
    L_ENOSYS = 38,
    L_ETIMEDOUT = 110
};

#endif
