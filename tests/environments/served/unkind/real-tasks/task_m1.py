import requests


def verify(server_url):
    answer = requests.get(f"{server_url}/api/state")
    if answer.status_code != 200:
        return False, "There is no state."
    chores = answer.json()["chores"]
    found = [c["starred"] for c in chores if c["id"] in (1, 2)]
    return bool(found) and all(found), "Both are starred." if found and all(found) else f"Not yet: {chores}"
