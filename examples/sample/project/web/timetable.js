// Shows the next sailings of the route that is chosen in the form.
const list = document.querySelector("#sailings");

document.querySelector("#route").addEventListener("change", async (event) => {
  const answer = await fetch(`/api/sailings?route=${encodeURIComponent(event.target.value)}`);
  if (!answer.ok) {
    list.textContent = "The timetable cannot be loaded. Please try again.";
    return;
  }
  const rows = (await answer.json()).map((sailing) => {
    const row = document.createElement("li");
    row.textContent = `${sailing.departs} – ${sailing.free} places`;
    return row;
  });
  list.replaceChildren(...rows);
});
