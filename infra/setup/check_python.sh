#!/usr/bin/env bash
# Fail, with what to do, unless PYTHON is a version for which the packages are locked: check_python.sh PYTHON REMEDY
python=$1 remedy=$2
if ! version=$("$python" -c 'import platform; print(platform.python_version())' 2> /dev/null); then
    version="not there, or does not start"
elif [[ $version =~ ^3\.(11\.([5-9]|[1-9][0-9])|1[2-4]\.) ]]; then
    exit 0
fi
echo "Python 3.11.5 to 3.14 is needed, but $python is ${version}: $remedy" >&2
exit 1
