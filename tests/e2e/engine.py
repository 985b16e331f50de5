# SPDX-License-Identifier: Apache-2.0
"""A Docker engine for tests: the one that runs already, else one of our own that is gone again afterwards."""
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BASE = "debian:bookworm-slim"


def call(*command, check=True, timeout=900, **options):
    """Runs a command and returns what it printed; fails with all of it."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def works(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Engine:
    """`with Engine() as engine`: DOCKER_HOST names a working engine that has the base image."""

    def __enter__(self):
        self.folder = self.daemon = None
        self.made_base = False
        try:
            if not works("docker", "version"):
                call(os.path.join(ROOT, "tools/packages"), "install", os.path.join(ROOT, "tools/packages-docker.txt"))
                self.start()
            self.compose = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
            self.provide_base()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        self.folder = tempfile.mkdtemp(prefix="hourglass-engine-")
        address = f"unix://{self.folder}/socket"
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.daemon = subprocess.Popen(
            ["dockerd", "--data-root", f"{self.folder}/data", "--exec-root", f"{self.folder}/exec",
             "--pidfile", f"{self.folder}/pid", "--host", address], stdout=self.log, stderr=self.log, start_new_session=True)
        os.environ["DOCKER_HOST"] = address
        for _ in range(60):
            if works("docker", "version"):
                return
            if self.daemon.poll() is not None:
                break
            time.sleep(1)
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            raise AssertionError("the Docker engine did not start:\n" + log.read()[-3000:])

    def provide_base(self):
        """Pulls the base image; where no registry is in reach, makes the like of it from Debian's packages."""
        if works("docker", "image", "inspect", BASE) or works("docker", "pull", BASE):
            return
        call(os.path.join(ROOT, "tools/packages"), "install", os.path.join(ROOT, "tools/packages-docker.txt"))
        folder = tempfile.mkdtemp(prefix="hourglass-base-")
        try:
            call("debootstrap", "--variant=minbase", "bookworm", folder, self.mirror())
            own = glob.glob("/usr/local/share/ca-certificates/*.crt")  # the container shall trust whom its host trusts
            os.makedirs(f"{folder}/usr/local/share/ca-certificates", exist_ok=True)
            for certificate in own:
                shutil.copy(certificate, f"{folder}/usr/local/share/ca-certificates/")
            os.makedirs(f"{folder}/etc/dpkg/dpkg.cfg.d", exist_ok=True)
            with open(f"{folder}/etc/dpkg/dpkg.cfg.d/container", "w", encoding="utf-8") as settings:
                settings.write("force-unsafe-io\n")  # as published base images do: no sync for each file of a layer
            packer = subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE)
            call("docker", "import", "-", BASE, stdin=packer.stdout)
            packer.stdout.close()
            if packer.wait() != 0:
                raise AssertionError("tar of the base image failed")
            self.made_base = True
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def mirror():
        """The archive that this host's own apt uses."""
        for line in call("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages").splitlines():
            address, codename, component = line.split()
            if (codename, component) == ("bookworm", "main"):
                return address
        raise AssertionError("apt of this host knows no archive with bookworm main")

    def __exit__(self, *_):
        if self.made_base and not self.daemon:
            call("docker", "image", "rm", BASE, check=False)
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(60)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            del os.environ["DOCKER_HOST"]
