"""Builds a wheel that contains the program. Cargo builds the program, unless ``SWAPMEET_BUILT`` names a folder that contains it."""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


def built() -> Path:
    """Return the path of the program, after building it if necessary."""
    folder = os.environ.get("SWAPMEET_BUILT")
    if folder is None:
        root = Path(__file__).resolve().parents[2]
        subprocess.run(["cargo", "build", "--release", "--locked", "-p", "swapmeet"], cwd=root, check=True)
        folder = Path(root, os.environ.get("CARGO_TARGET_DIR", "target"), "release")
    return Path(folder, "swapmeet")


PROGRAM = built()
# The program prints "swapmeet 0.1.0".
VERSION = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]


class Build(build_py):
    def run(self) -> None:
        super().run()
        there = Path(self.build_lib, "swapmeet", "bin")
        there.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROGRAM, there)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-debug", there / "swapmeet"], check=True)


class Wheel(bdist_wheel):
    """A wheel for one kind of machine and for all versions of Python."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> "tuple[str, str, str]":
        return ("py3", "none", super().get_tag()[2])


setup(version=VERSION, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
