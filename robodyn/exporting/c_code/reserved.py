"""Names that a robot cannot have in C and C++, because something else has them."""

from __future__ import annotations

from robodyn.codegen.text.assignments import C_WORDS

#: Functions, variables and types that C and POSIX declare, of which no namespace may be named.
_LIBRARY = """
a64l abort abs accept accept4 access acct acos acosf acosh acoshf acoshl acosl adjtime alarm
alloca arc4random asctime asin asinf asinh asinhf asinhl asinl asprintf atan atan2 atan2f
atan2l atanf atanh atanhf atanhl atanl atexit atof atoi atol atoll basename bcmp bcopy bind
brk bsearch btowc bzero calloc canonicalize canonicalizef canonicalizel cbrt cbrtf cbrtl
ceil ceilf ceill chdir chmod chown chroot clearenv clearerr clock clone close closefrom
cmsghdr confstr connect copysign copysignf copysignl cosh coshf coshl cosl creat crypt
ctermid ctime cuserid daddl daemon daylight ddivl dfmal difftime div dmull dprintf drand48
drem dremf dreml dsqrtl dsubl dup dup2 dup3 duplocale dysize eaccess ecvt endusershell env
environ erand48 erf erfc erfcf erfcl erff erfl errno euidaccess execl execle execlp execv
execve execveat execvp execvpe exit exp exp10 exp10f exp10l exp2 exp2f exp2l expf expl expm1
expm1f expm1l fabsl faccessat fadd faddl fallocate fchdir fchmod fchmodat fchown fchownat
fclose fcloseall fcntl fcvt fdatasync fdim fdimf fdiml fdiv fdivl fdopen feof ferror fexecve
fflush ffma ffmal ffs ffsl ffsll fgetc fgetpos fgets fgetwc fgetws fileno finite finitef
finitel flock flockfile floor floorf floorl fma fmaf fmal fmax fmaxf fmaximum fmaximumf
fmaximuml fmaxl fmaxmag fmaxmagf fmaxmagl fmemopen fmin fminf fminimum fminimumf fminimuml
fminl fminmag fminmagf fminmagl fmod fmodf fmodl fmul fmull fopen fopencookie fork fpathconf
fprintf fputc fputs fputwc fputws fread free freelocale freopen frexp frexpf frexpl fromfp
fromfpf fromfpl fromfpx fromfpxf fromfpxl fscanf fseek fseeko fsetpos fsqrt fsqrtl fstat
fstatat fsub fsubl fsync ftell ftello ftruncate ftrylockfile funlockfile futimens futimes
futimesat fwide fwprintf fwrite fwscanf gamma gammaf gammal gcvt getc getchar getcpu getcwd
getdate getdelim getdomainname getdtablesize getegid getentropy getenv geteuid getgid
getgroups gethostid gethostname getitimer getline getloadavg getlogin getopt getpagesize
getpass getpayload getpayloadf getpayloadl getpeername getpgid getpgrp getpid getppid getpt
getresgid getresuid getsid getsockname getsockopt getsubopt gettid gettimeofday getuid
getumask getusershell getw getwc getwchar getwd gmtime grantpt gsignal hypot hypotf hypotl
ilogb ilogbf ilogbl index initstate iovec isalnum isalpha isascii isatty isblank iscanonical
iscntrl isctype isdigit iseqsig isfdtype isgraph isinff isinfl islower isnanf isnanl isprint
ispunct issignaling isspace isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit
iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit iszero itimerspec
itimerval j0 j0f j0l j1 j1f j1l jn jnf jnl jrand48 kill killpg l64a labs lchmod lchown
lcong48 lconv ldexp ldexpf ldexpl ldiv lgamma lgammaf lgammal linger link linkat listen
llabs lldiv llogb llogbf llogbl llrint llrintf llrintl llround llroundf llroundl localeconv
localtime lockf log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l logb logbf
logbl logf logl lrand48 lrint lrintf lrintl lround lroundf lroundl lseek lstat lutimes
malloc mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs mbtowc memccpy memchr
memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdir mkdirat mkdtemp mkfifo
mkfifoat mknod mknodat mkostemp mkostemps mkstemp mkstemps mktemp mktime mmsghdr modf modff
modfl mrand48 msghdr nan nanf nanl nanosleep nearbyint nearbyintf nearbyintl newlocale
nextafter nextafterf nextafterl nextdown nextdownf nextdownl nexttoward nexttowardf
nexttowardl nextup nextupf nextupl nice nrand48 obstack open openat optarg opterr optind
optopt osockaddr pathconf pause pclose perror pipe pipe2 poll pollfd popen pow powf powl
ppoll pread printf profil pselect psiginfo psignal ptsname putc putchar putenv puts putw
putwc putwchar pwrite qecvt qfcvt qgcvt qsort raise rand random rawmemchr read readahead
readlink readlinkat realloc reallocarray realpath recv recvfrom recvmmsg recvmsg remainder
remainderf remainderl remove remquo remquof remquol rename renameat renameat2 revoke rewind
rindex rint rintf rintl rmdir round roundeven roundevenf roundevenl roundf roundl rpmatch
sbrk scalb scalbf scalbl scalbln scalblnf scalblnl scalbn scalbnf scalbnl scanf seed48
select send sendmmsg sendmsg sendto setbuf setbuffer setdomainname setegid setenv seteuid
setgid sethostid sethostname setitimer setlinebuf setlocale setlogin setns setpayload
setpayloadf setpayloadl setpayloadsig setpayloadsigf setpayloadsigl setpgid setpgrp setregid
setresgid setresuid setreuid setsid setsockopt setstate settimeofday setuid setusershell
setvbuf shutdown sigaction sigaddset sigaltstack sigandset sigblock sigcontext sigdelset
sigemptyset sigevent sigfillset siggetmask sighold sigignore siginterrupt sigisemptyset
sigismember signal signgam significand significandf significandl sigorset sigpause
sigpending sigprocmask sigqueue sigrelse sigreturn sigset sigsetmask sigstack sigsuspend
sigtimedwait sigval sigwait sigwaitinfo sincos sincosf sincosl sinh sinhf sinhl sinl sleep
snprintf sockaddr sockatmark socket socketpair splice sprintf sqrtl srand srand48 srandom
sscanf ssignal stat
"""

#: Macros of headers of C and of Windows, which are no names of anything.
MACROS = frozenset(
    "BUFSIZ EDOM EOF ERANGE FILENAME_MAX HUGE_VAL I M_E M_PI RAND_MAX alloca assert complex errno "
    "far fpclassify imaginary isinf isnan isnormal max min near offsetof setjmp signbit small "
    "stderr stdin stdout va_arg va_copy va_end va_start".split()
)

#: Files of headers of C; targets of CMake; files that Windows cannot have.
_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath
threads time uchar wchar wctype aio cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv
langinfo libgen monetary mqueue ndbm netdb nl_types poll pthread pwd regex sched search semaphore
spawn strings stropts syslog tar termios trace ulimit unistd utime utmpx wordexp features malloc
memory alloca endian byteswap values windows io conio direct process intrin
"""
_TARGETS = """
all all_build clean edit_cache help install package package_source preinstall rebuild_cache
run_tests test zero_check
"""
_FILES = "aux con nul prn com1 com2 com3 com4 lpt1 lpt2 lpt3 lpt4"

#: In lower case: some file systems do not tell capital letters from small ones.
RESERVED = C_WORDS | MACROS | {
    "posix", "std", *_LIBRARY.split(), *_HEADERS.split(), *_TARGETS.split(), *_FILES.split(),
}  # fmt: skip
