"""The ROS package; the library itself is the pip package robodyn."""

from glob import glob

from setuptools import setup

NAME = "robodyn_ros"

setup(
    name=NAME,
    version="0.2.0",
    description="robodyn as a ROS 2 package",
    license="MIT",
    maintainer="robodyn authors",
    maintainer_email="maintainers@example.com",
    packages=[NAME],
    install_requires=["setuptools", "robodyn"],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
        (f"share/{NAME}/config", glob("config/*.yaml")),
    ],
    entry_points={"console_scripts": [f"sim_node = {NAME}.sim_node:main"]},
    zip_safe=True,
)
